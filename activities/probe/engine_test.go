package probe_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/probe"
)

func TestNewTargetIsProbedAtOnce(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": good}}
	run(t, f, func(t *testing.T) {
		told := []probe.Transition{{
			UID: "a", Incarnation: 1, Namespace: "crawl", Name: "a", Verdict: probe.Healthy, Healthy: true,
			Latency: 40 * time.Millisecond, ExitIP: "192.0.2.1", At: time.Now(),
		}}
		if diff := cmp.Diff(told, f.told); diff != "" {
			t.Error(diff)
		}
		f.set(func() { f.targets[0] = target("a", published(true)) })
		after(5 * time.Minute)
		want(t, f, "nothing changed")
		if n := f.probed("a"); n != 11 {
			t.Errorf("%d probes in 5 minutes, want one each 30 s", n)
		}
	})
}

func TestRestartSpreadsProbes(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a", published(true))}, results: map[string]probe.Result{"a": good}}
	run(t, f, func(t *testing.T) {
		after(14 * time.Second)
		if f.probed("a") != 0 {
			t.Error("probed before its share of the interval had passed")
		}
		after(time.Second)
		if f.probed("a") != 1 {
			t.Error("not probed in time")
		}
		want(t, f, "the object tells the verdict already")
	})
}

func TestFlips(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a", published(true))}, results: map[string]probe.Result{"a": dead}}
	run(t, f, func(t *testing.T) {
		after(15*time.Second + 59*time.Second)
		want(t, f, "two failures are no verdict")
		after(time.Second)
		want(t, f, "three are", probe.Dead)
		f.set(func() {
			f.targets[0], f.results["a"] = target("a", published(false)), probe.Result{Verdict: probe.Blocked}
		})
		after(2 * time.Minute)
		want(t, f, "blocked flips nothing")
		f.set(func() { f.results["a"] = good })
		after(30 * time.Second)
		want(t, f, "one success is a verdict", probe.Healthy)
	})
}

func TestNewProxyMayStartLate(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": dead}}
	run(t, f, func(t *testing.T) {
		after(59 * time.Second)
		want(t, f, "quick looks do not make it dead before its time")
		f.set(func() { f.results["a"] = good })
		after(time.Second)
		want(t, f, "but find it up at once", probe.Healthy)
	})
	f = &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": dead}}
	run(t, f, func(t *testing.T) {
		after(time.Minute)
		want(t, f, "three failures an interval apart", probe.Dead)
	})
}

func TestReportThatFailsIsMadeAgain(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": good}, refuse: errors.New("no Temporal")}
	run(t, f, func(t *testing.T) {
		after(29 * time.Second)
		want(t, f, "nobody listens")
		f.set(func() { f.refuse = nil })
		after(time.Second)
		want(t, f, "with the next probe", probe.Healthy)
	})
}

func TestVerdictIsToldAgainWhileTheObjectTellsOtherwise(t *testing.T) {
	f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": good}}
	run(t, f, func(t *testing.T) {
		f.set(func() {})
		after(15 * time.Second)
		want(t, f, "the object needs some time")
		after(time.Second)
		want(t, f, "the signal was lost", probe.Healthy)
		f.set(func() { f.targets[0] = target("a", published(true)) })
		after(time.Minute)
		want(t, f, "the object agrees")
		f.set(func() { f.targets[0] = target("a", published(false)) })
		after(17 * time.Second)
		want(t, f, "the object tells the opposite", probe.Healthy)
	})
}

func TestStateEndsWithItsTarget(t *testing.T) {
	for name, change := range map[string]func(f *fleet){
		"a replaced instance proves itself anew": func(f *fleet) { f.targets[0].Incarnation = 2 },
		"an edited endpoint is another proxy":    func(f *fleet) { f.targets[0].Proxy.Host = "10.0.0.2" },
		"an object of the same name is another":  func(f *fleet) { f.targets[0].UID = "b" },
	} {
		t.Run(name, func(t *testing.T) {
			f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": good, "b": good}}
			run(t, f, func(t *testing.T) {
				want(t, f, "first verdict", probe.Healthy)
				f.set(func() { change(f) })
				after(time.Second)
				want(t, f, "first verdict of its own", probe.Healthy)
			})
		})
	}
	t.Run("a target that is gone is forgotten, with its metrics", func(t *testing.T) {
		f := &fleet{targets: []probe.Target{target("a")}, results: map[string]probe.Result{"a": good}}
		run(t, f, func(t *testing.T) {
			f.set(func() { f.targets = nil })
			after(2 * time.Minute)
			if diff := cmp.Diff([]string{"crawl/a"}, f.forgot); diff != "" {
				t.Error(diff)
			}
			if n := f.probed("a"); n != 1 {
				t.Errorf("%d probes, want the first one only", n)
			}
		})
	})
	t.Run("a list that cannot be read forgets nothing", func(t *testing.T) {
		f := &fleet{targets: []probe.Target{target("a", published(true))}, results: map[string]probe.Result{"a": good}}
		run(t, f, func(t *testing.T) {
			after(15 * time.Second)
			f.set(func() { f.broken, f.targets = errors.New("cache is not ready"), nil })
			after(time.Minute)
			f.set(func() { f.broken, f.targets = nil, []probe.Target{target("a", published(true))} })
			after(time.Second)
			want(t, f, "the verdict stands")
			if len(f.forgot) != 0 {
				t.Errorf("forgot %v", f.forgot)
			}
		})
	})
}

func TestLatencyIsToldOnceASecond(t *testing.T) {
	f := &fleet{results: map[string]probe.Result{}}
	for _, uid := range []string{"a", "b", "c"} {
		f.targets = append(f.targets, target(uid))
		f.results[uid] = good
	}
	slow := good
	slow.Latency = 400 * time.Millisecond
	run(t, f, func(t *testing.T) {
		f.set(func() {
			for i, uid := range []string{"a", "b", "c"} {
				f.targets[i], f.results[uid] = target(uid, published(true)), slow
			}
		})
		after(59 * time.Second)
		want(t, f, "not within a minute")
		after(time.Second)
		want(t, f, "one of three", probe.Healthy)
		after(time.Minute)
		want(t, f, "the others with their next probes", probe.Healthy, probe.Healthy, probe.Healthy)
	})
}

func TestUniqueExit(t *testing.T) {
	unique := func(t *probe.Target) { t.Check.Exit.Unique, t.Check.FailureThreshold = true, 1 }
	f := &fleet{targets: []probe.Target{target("a", unique)}, results: map[string]probe.Result{"a": good, "b": good}}
	run(t, f, func(t *testing.T) {
		f.set(func() { f.targets = append(f.targets, target("b", unique)) })
		after(time.Second)
		want(t, f, "the second one by this address", probe.WrongExit)
		f.set(func() {
			f.targets[0] = target("a", unique, published(true))
			f.targets[1] = target("b", unique, published(false))
		})
		after(time.Minute)
		want(t, f, "the first one keeps it")
		f.set(func() { f.targets = f.targets[1:] })
		for range 30 {
			if after(time.Second); len(f.verdicts()) > 0 {
				break
			}
		}
		want(t, f, "its successor has it", probe.Healthy)
	})
}

func TestProbesAtATimeAreBounded(t *testing.T) {
	f := &fleet{probes: map[string]int{}}
	for range 40 {
		f.targets = append(f.targets, target(string(rune('A'+len(f.targets)))))
	}
	var now, most, all atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		engine := probe.New(probe.Options{Targets: f.Targets, Report: f.Report, Probe: func(context.Context, probe.Target) probe.Result {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(100 * time.Millisecond)
			now.Add(-1)
			all.Add(1)
			return good
		}})
		go engine.Run(ctx)
		after(900 * time.Millisecond)
		cancel()
		synctest.Wait()
	})
	if most.Load() != 8 || all.Load() != 40 {
		t.Errorf("at most %d at a time, %d in all; want 8 and 40", most.Load(), all.Load())
	}
}
