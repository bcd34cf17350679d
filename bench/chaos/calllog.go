package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// call is one line of the call log: a call to the provider, and what went wrong
// with it. The log outlives the workers, so that the next one counts on.
type call struct {
	At       time.Time `json:"at"`
	Instance string    `json:"instance"`
	// Who is the life that the instance belongs to, as in "12.1".
	Who    string `json:"who,omitempty"`
	Method method `json:"method"`
	N      int    `json:"n"`
	Fault  fault  `json:"fault,omitempty"`
	// Delay is how long it takes when it is slow or late.
	Delay time.Duration `json:"delay,omitempty"`
	// Note tells what came later of a call that is logged already.
	Note string `json:"note,omitempty"`
	// Wrong is what the worker saw that must never be.
	Wrong string `json:"wrong,omitempty"`
	// Unchecked is the entry that the ledger should have had at a Create while the API
	// server did not answer: others have to look for it.
	Unchecked *crawl.InstanceRecord `json:"unchecked,omitempty"`
}

// again says that it tells more of a call that is logged already.
func (c call) again() bool { return c.Note != "" || c.Wrong != "" || c.Unchecked != nil }

// happened says that the fault of c has now been met: some show only in the end.
func (c call) happened() bool {
	told := c.Note != ""
	late := c.Fault == faultLandsLate || c.Fault == faultCrash || c.Fault == faultHalted
	return c.Fault != faultNone && c.Wrong == "" && c.Unchecked == nil && told == late
}

// callLog counts the calls of each life, and writes them down.
type callLog struct {
	mu     sync.Mutex
	file   *os.File
	counts map[string]int
	who    map[string]string // by instance
}

// openCallLog goes on with the log at path.
func openCallLog(path string) (*callLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600) // #nosec G304 -- a file of this run
	if err != nil {
		return nil, fmt.Errorf("open the call log: %w", err)
	}
	l := &callLog{file: file, counts: map[string]int{}, who: map[string]string{}}
	calls, _, err := readCalls(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	for _, c := range calls {
		if !c.again() {
			l.count(&c)
		}
	}
	return l, nil
}

// count gives c its number and its life.
func (l *callLog) count(c *call) {
	if c.Who == "" {
		c.Who = l.who[c.Instance]
	}
	l.who[c.Instance] = c.Who
	key := c.Instance + "/" + string(c.Method)
	c.N = l.counts[key]
	l.counts[key]++
}

// begin writes down a call, with its number and the fault that is due.
func (l *callLog) begin(seed uint64, c call) (call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(&c)
	if c.Who != "" { // else nobody can say which script it belongs to
		c.Fault = faultOf(seed, c.Who, c.Method, c.N)
	}
	if c.Fault == faultSlow || c.Fault == faultLandsLate {
		c.Delay = delayOf(seed, c.Who, c.Method, c.N)
	}
	return c, l.write(c)
}

// tell writes down what came of a call.
func (l *callLog) tell(c call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(c)
}

func (l *callLog) write(c call) error {
	c.At = time.Now()
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the call log: %w", err)
	}
	if _, err := l.file.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the call log: %w", err)
	}
	return nil
}

// readCalls reads the whole lines that r has, and says how many bytes they are.
func readCalls(r io.Reader) (calls []call, size int64, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what has no end yet is being written
			return calls, size, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the call log: %w", err)
		}
		size += int64(len(line))
		var c call
		if err := json.Unmarshal(bytes.TrimSpace(line), &c); err != nil {
			return nil, 0, fmt.Errorf("read the call log: %w", err)
		}
		calls = append(calls, c)
	}
}

// followCalls reads what the workers write into the call log, until ctx ends.
func (o *observer) followCalls(ctx context.Context, path string) error {
	var at int64
	for {
		next, err := o.readCalls(path, at)
		if err != nil {
			return err
		}
		at = next
		if linger(ctx, 500*time.Millisecond) != nil {
			return nil
		}
	}
}

// readCalls takes in what follows in the call log, and says up to where.
func (o *observer) readCalls(path string, at int64) (next int64, err error) {
	file, err := os.Open(path)          // #nosec G304 -- a file of this run
	if errors.Is(err, os.ErrNotExist) { // no worker has begun yet
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("read the call log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return at, fmt.Errorf("read the call log: %w", err)
	}
	calls, size, err := readCalls(file)
	if err != nil {
		return at, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range calls {
		o.heard(c)
	}
	return at + size, nil
}

// heard takes in a call. It is called with the lock.
func (o *observer) heard(c call) {
	if c.happened() {
		o.faults[c.Fault]++
	}
	if at := c.At.Add(c.Delay); c.Method == methodCreate && c.Fault == faultLandsLate && !c.again() && at.After(o.landing) {
		o.landing = at
	}
	if c.Unchecked != nil {
		o.unchecked = append(o.unchecked, c)
	}
	s := o.byInstance[c.Instance]
	if s == nil {
		return
	}
	if c.Method != methodGet || c.Fault != faultNone {
		o.tell(s, "call    at %s %s %d %s%s%s", c.At.UTC().Format("15:04:05.000"), c.Method, c.N, c.Fault, c.Note, c.Wrong)
	}
	if c.Wrong != "" && !s.abandoned {
		o.fail(&violation{leaked, s.ref.UID, c.Wrong})
	}
}

// awaitLandings waits until every lost attempt has landed, or died with its worker:
// nothing may come of one once its object is gone.
func (o *observer) awaitLandings(ctx context.Context) error {
	o.mu.Lock()
	rest := time.Until(o.landing.Add(landingSlack))
	o.mu.Unlock()
	return linger(ctx, max(0, rest))
}

// landingSlack is for the call itself, and for the log of it to be read.
const landingSlack = 3 * time.Second
