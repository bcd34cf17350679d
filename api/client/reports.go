package client

import (
	"context"
	"sync"
	"time"
)

const (
	// maxReporting is how many targets of a lease are reported on at a time; more go untold.
	maxReporting = 8
	// reportLimit bounds one report.
	reportLimit = 10 * time.Second
	// burst is how long the same result of the same target is the same observation: what was
	// under way when a target closed its doors must not count as so many bans.
	burst = 10 * time.Second
)

// reporter tells what a Transport sees, at most one report a target at a time, while the
// requests go on.
type reporter struct {
	lease *Lease
	// own ends the reports that are under way.
	own    context.Context
	cancel context.CancelFunc
	sent   sync.WaitGroup

	mu      sync.Mutex
	targets map[string]*telling
	// decided: what the lease is for has been reported on, so its trial has its result.
	decided bool
	closed  bool
}

// telling is what one target was reported for.
type telling struct {
	result Result
	at     time.Time
	// running: a report is under way, and next, if any, follows it.
	running bool
	next    *Report
}

func newReporter(l *Lease) *reporter {
	own, cancel := context.WithCancel(context.Background())
	return &reporter{lease: l, own: own, cancel: cancel, targets: map[string]*telling{}}
}

// tell reports soon, or not at all if that is nothing new.
func (r *reporter) tell(report Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.targets[report.Target]
	switch {
	case r.closed, report.Result == OK && r.decided:
		return
	case t == nil:
		if r.forget(); len(r.targets) >= maxReporting {
			return
		}
		t = &telling{}
		r.targets[report.Target] = t
	case t.result == report.Result && time.Since(t.at) < burst:
		return
	}
	t.result, t.at = report.Result, time.Now()
	if t.running {
		t.next = &report
		return
	}
	t.running = true
	r.sent.Go(func() { r.send(t, report) })
}

// forget drops the targets whose bursts are over.
func (r *reporter) forget() {
	for name, t := range r.targets {
		if !t.running && time.Since(t.at) >= burst {
			delete(r.targets, name)
		}
	}
}

// send reports, and goes on with what came to be seen meanwhile.
func (r *reporter) send(t *telling, report Report) {
	for next := &report; next != nil; {
		ctx, cancel := context.WithTimeout(r.own, reportLimit)
		err := r.lease.Report(ctx, *next)
		cancel()
		if err != nil {
			r.lease.client.options.Log.WarnContext(r.own, "reporting failed", "lease", r.lease, "target", next.Target, "result", string(next.Result), "error", err)
		}
		next = r.after(t, *next, err == nil)
	}
}

// after notes that report was sent, be it done or not, and returns the next one.
func (r *reporter) after(t *telling, report Report, done bool) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := t.next
	t.next, t.running = nil, next != nil
	switch {
	case done:
		// What other hosts do says nothing of what the lease is a trial for.
		r.decided = r.decided || report.Target == "" || report.Target == r.lease.host()
	case next == nil:
		t.result = "" // the next answer tells it again
	}
	return next
}

// finish waits for the reports that are under way, until ctx ends, and takes no more.
func (r *reporter) finish(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	r.sent.Wait()
	r.cancel()
}
