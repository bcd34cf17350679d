package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type options struct {
	// kills of the only process, and rounds of blows to the leader of several.
	kills, blows int
	seed         uint64
	// serving and failover bound the times that are taken.
	serving, failover time.Duration
	// dir is an empty directory for all that is kept.
	dir string
	// binDir has the programs of the servers, and fairlead.
	binDir string
	out    io.Writer
}

// errBroken ends a run whose last line tells of broken promises.
var errBroken = errors.New("a promise was broken")

// run is what the parts of a run share.
type run struct {
	options
	start    time.Time
	pulse    *pulse
	stack    *stack
	capacity map[string]int
	stop     context.CancelCauseFunc

	mu     sync.Mutex
	result *result
	counts map[string]int // of what was done and looked at
}

// runAll runs the phases, and ends at the first broken promise.
func runAll(ctx context.Context, o options) (*result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &run{
		options: o, start: time.Now(), capacity: capacities(), stop: stop,
		result: &result{counts: map[verdict]int{}}, counts: map[string]int{},
	}
	err := r.run(ctx)
	if why := context.Cause(ctx); why != nil {
		err = why // the others follow from it
	}
	if v := new(violation); errors.As(err, &v) {
		err = errBroken // it was told
	}
	r.summarize()
	return r.result, err
}

func (r *run) run(ctx context.Context) (err error) {
	beside, end := context.WithCancel(ctx)
	var beating sync.WaitGroup
	defer beating.Wait()
	defer end()
	r.pulse = newPulse(r.now, r.dir)
	beating.Go(func() {
		if err := r.pulse.beat(beside); err != nil {
			r.stop(err)
		}
	})
	r.stack, err = startStack(ctx, r.options)
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { err = errors.Join(err, r.stack.stop()) }()
	if err := r.inFile(ctx); err != nil {
		return err
	}
	if err := r.inPostgres(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.ordered = true
	return nil
}

// inFile is the phase of one process with its leases in a file.
func (r *run) inFile(ctx context.Context) error {
	if r.kills == 0 {
		return nil
	}
	only := r.newReplica("api", "127.0.0.1", r.stack.ports.Ports[2], "--leases", filepath.Join(r.dir, "leases.db"))
	p := r.newPhase("file", []*replica{only})
	return p.play(ctx, r.kills, p.killOnly)
}

// replicas share a database.
const replicas = 3

// inPostgres is the phase of several processes with their leases in a database, each in a
// network of its own.
func (r *run) inPostgres(ctx context.Context) error {
	if r.blows == 0 {
		return nil
	}
	dsn, err := r.stack.startPostgres(ctx)
	if err != nil {
		return err
	}
	var several []*replica
	for i := range replicas {
		link, err := r.stack.network.add(ctx)
		if err != nil {
			return err
		}
		one := r.newReplica(fmt.Sprintf("replica-%d", i+1), r.stack.network.space(link), r.stack.ports.Ports[2], "--leases-postgres", dsn)
		one.link = link
		one.command = slices.Concat(r.stack.network.prefix(link), one.command, []string{"--advertise-url", one.url})
		several = append(several, one)
	}
	p := r.newPhase("postgres", several)
	return p.play(ctx, r.blows*len(leaderBlows), p.strikeLeader)
}

// newReplica is a `fairlead api` at an address, with its leases as the last arguments say.
// There is no Temporal: nothing is told by it that the run looks at.
func (r *run) newReplica(name, host string, port int, leases ...string) *replica {
	address := fmt.Sprintf("%s:%d", host, port)
	command := []string{
		filepath.Join(r.binDir, "fairlead"), "api", "--kubeconfig", r.stack.kubeconfig, "--tokens", r.stack.tokens,
		"--http-address", address, "--temporal-address", "127.0.0.1:1", "--max-lease-ttl", "2h", "--cooldown", firstBan.String(),
	}
	return &replica{
		name: name, url: "http://" + address, command: append(command, leases...), log: filepath.Join(r.dir, name+".log"),
		ended: func(err error) { r.stop(err) },
	}
}

// taken is the time from one moment to another.
func (r *run) taken(from, to time.Duration) taken {
	return taken{to - from, r.pulse.stalled(span{from, to})}
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// fail notes a broken promise.
func (r *run) fail(v *violation) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.counts[v.verdict]++
	if r.result.counts[v.verdict] == 1 { // one broken promise often breaks others
		r.printf("BROKEN PROMISE, seed %d: %s", r.seed, v)
	}
	return v
}

func (r *run) count(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what] += n
}

func (r *run) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "%6.1fs  %s\n", r.now().Seconds(), fmt.Sprintf(format, args...))
}

// summarize prints what the result is worth.
func (r *run) summarize() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.counts)) {
		words = append(words, fmt.Sprintf("%s %d", k, r.counts[k]))
	}
	if len(words) > 0 {
		r.printf("looked at: %s", strings.Join(words, ", "))
	}
	if len(r.result.serving) > 0 {
		r.printf("serving again: %s", distribution(r.result.serving))
	}
	if len(r.result.failover) > 0 {
		r.printf("failover: %s", distribution(r.result.failover))
	}
}
