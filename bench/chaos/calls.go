package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// call is one line of the call log: a call to the provider, and what went wrong
// with it. The log outlives the workers, so that the next one counts on.
type call struct {
	At       time.Time `json:"at"`
	Instance string    `json:"instance"`
	// Who is the life that the instance belongs to, as in "12.1".
	Who    string `json:"who,omitempty"`
	UID    string `json:"uid,omitempty"`
	Method method `json:"method"`
	N      int    `json:"n"`
	Fault  fault  `json:"fault,omitempty"`
	// Note tells what came later of a call that is logged already.
	Note string `json:"note,omitempty"`
	// Wrong is what the worker saw that must never be.
	Wrong string `json:"wrong,omitempty"`
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
		if c.Note == "" && c.Wrong == "" {
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
