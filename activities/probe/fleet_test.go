package probe_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/probe"
)

// fleet stands in for the proxies and for the objects that tell of them, so that
// each moment can be chosen; how proxies are probed is tested on real ones.
type fleet struct {
	mu      sync.Mutex
	targets []probe.Target
	broken  error
	results map[string]probe.Result
	probes  map[string]int
	told    []probe.Transition
	refuse  error
	forgot  []string
}

func (f *fleet) Targets(context.Context) ([]probe.Target, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]probe.Target(nil), f.targets...), f.broken
}

func (f *fleet) Probe(_ context.Context, t probe.Target) probe.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probes[t.UID]++
	return f.results[t.UID]
}

func (f *fleet) Report(_ context.Context, t probe.Transition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse == nil {
		f.told = append(f.told, t)
	}
	return f.refuse
}

func (f *fleet) Probed(string, string, probe.Result) {}

func (f *fleet) Forget(namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgot = append(f.forgot, namespace+"/"+name)
}

// probed counts the probes of uid.
func (f *fleet) probed(uid string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.probes[uid]
}

// set changes the world, and forgets what was told before.
func (f *fleet) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = nil
	change()
}

// verdicts are the verdicts told since the last set.
func (f *fleet) verdicts() []probe.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	var vs []probe.Verdict
	for _, t := range f.told {
		vs = append(vs, t.Verdict)
	}
	return vs
}

// run runs an engine in fake time: 30 s pass at once.
func run(t *testing.T, f *fleet, test func(t *testing.T)) {
	t.Helper()
	f.probes = map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		engine := probe.New(probe.Options{
			Targets: f.Targets, Report: f.Report, Probe: f.Probe, Metrics: f,
			Jitter: func() float64 { return 0.5 },
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			engine.Run(ctx)
		}()
		synctest.Wait()
		test(t)
		cancel()
		<-ended
	})
}

// after lets d pass and the engine come to rest.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func target(uid string, edits ...func(*probe.Target)) probe.Target {
	t := probe.Target{
		UID: uid, Namespace: "crawl", Name: uid, Incarnation: 1,
		Proxy: probe.Endpoint{Scheme: "http", Host: "10.0.0.1", Port: 3128},
		Check: probe.Check{Interval: 30 * time.Second, SuccessThreshold: 1, FailureThreshold: 3},
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

func published(healthy bool) func(*probe.Target) {
	return func(t *probe.Target) {
		t.Published = probe.Published{Known: true, Healthy: healthy, Latency: 40 * time.Millisecond, ExitIP: "192.0.2.1"}
	}
}

var (
	good = probe.Result{Verdict: probe.Healthy, Latency: 40 * time.Millisecond, ExitIP: "192.0.2.1"}
	dead = probe.Result{Verdict: probe.Dead, Message: "no answer in time"}
)

func want(t *testing.T, f *fleet, when string, verdicts ...probe.Verdict) {
	t.Helper()
	if diff := cmp.Diff(verdicts, f.verdicts()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}
