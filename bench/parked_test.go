package bench

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

const (
	// parkedPatience is for what is done to each of the parked proxies.
	parkedPatience = 30 * time.Minute
	// managedShare is the part of the proxies that are Managed: a tenth.
	managedShare = 10
	// wakened is how many of them are woken at the end, to prove that they were parked
	// in the state that they would have parked in themselves.
	wakened = 20
)

// BenchmarkParked10000 lets one worker keep 10,000 Ready proxies, nine of ten of them
// External, looks at its memory, and restarts it and the starter. Both are the real
// program, with sweeps and probes; one process answers for all proxies.
func BenchmarkParked10000(b *testing.B) {
	f := newWorld(b).newFleet(newCalls(), "process")
	for b.Loop() {
		f.seed(*parkedSize, func(i int) string {
			if i%managedShare == 0 {
				return "process"
			}
			return ""
		})
		f.live()
		probed := f.echo()
		worker := f.startWorker(probed)
		f.park()
		f.allPark()
		starter := f.startStarter()
		f.swept(1)
		cores := f.settle("before the restart", worker)
		first, starterMemory := f.memory(worker), f.memory(starter)

		before := f.marks()
		f.must("stop the starter", starter.stop())
		f.must("stop the worker", worker.stop())
		restarted := time.Now()
		worker = f.startWorker(probed)
		f.startStarter()
		f.firstReady("after-restart")
		took := time.Since(restarted)
		f.swept(1)
		f.settle("after the restart", worker)
		news := f.news(before)
		second := f.memory(worker)
		f.wakeSome()

		b.ReportMetric(0, "ns/op") // of all of it: says nothing
		b.ReportMetric(first.resident, "MiB")
		b.ReportMetric(max(first.peak, second.peak), "MiB-peak")
		b.ReportMetric(second.resident, "MiB-restarted")
		b.ReportMetric(cores, "cores")
		b.ReportMetric(starterMemory.peak, "starter-MiB-peak")
		b.ReportMetric(took.Seconds(), "restart-seconds")
		b.ReportMetric(float64(news.signals), "signals/restart")
		b.ReportMetric(float64(news.health), "health-signals/restart")
		b.ReportMetric(float64(news.providerCalls), "provider-calls/restart")
		if news.providerCalls > 0 || news.signals > 0 {
			b.Errorf("a restart made %d calls of the provider and sent %d signals about proxies that had not changed", news.providerCalls, news.signals)
		}
	}
}

// startWorker runs `fairlead worker`.
func (f *fleet) startWorker(probeURL string) *running {
	f.tb.Helper()
	return f.start("worker", append([]string{fairlead(f.tb), "worker", "--default-probe-url", probeURL}, f.flags()...))
}

// startStarter runs `fairlead starter`.
func (f *fleet) startStarter() *running {
	f.tb.Helper()
	return f.start("starter", append([]string{fairlead(f.tb), "starter"}, f.flags()...))
}

func (f *fleet) flags() []string {
	return []string{
		"--kubeconfig", localtest.Kubeconfig(f.tb, f.rest), "--providers", f.providers, "--log-level", "warn",
		"--temporal-address", f.temporalAddress, "--temporal-namespace", f.temporalNamespace,
	}
}

// allPark waits until every workflow waits.
func (f *fleet) allPark() {
	f.tb.Helper()
	f.each("wait until a workflow parks", func(i int) error {
		eventually.Within(f.tb, "a workflow parks", parkedPatience, func() bool { return f.parks(ref.Of(f.proxies[i])) })
		return nil
	})
}

// swept waits for n more runs of each Schedule.
func (f *fleet) swept(n int64) {
	f.tb.Helper()
	for _, id := range []string{wire.SweepObjectsID, wire.SweepID("process")} {
		query := fmt.Sprintf("TemporalScheduledById = '%s' AND ExecutionStatus = 'Completed'", id)
		want := int64(-1)
		eventually.Within(f.tb, "Schedule "+id+" runs", parkedPatience, func() bool {
			have := f.countWorkflows(query)
			if want < 0 {
				want = have + n
			}
			return have >= want
		})
	}
}

// firstReady creates a Proxy and waits until it is Ready.
func (f *fleet) firstReady(name string) {
	f.tb.Helper()
	p := external(f.namespace, name, address(len(f.proxies)), f.port)
	f.must("create a Proxy", f.client.Create(f.ctx, p))
	eventually.Within(f.tb, "a new Proxy is Ready", parkedPatience, func() bool { return f.get(p).Status.IsTrue(crawl.ConditionReady) })
}

// settle lets the worker be for as long as Go's collector may take to run by itself,
// and longer than a round of probes. It returns how many cores the worker uses.
func (f *fleet) settle(when string, worker *running) (cores float64) {
	f.tb.Helper()
	f.tb.Logf("%s: resting for %s", when, *restTime)
	start, before := time.Now(), f.busy(worker)
	time.Sleep(*restTime)
	return float64(f.busy(worker)-before) / float64(time.Since(start))
}

// news is what happened to the workflows.
type news struct{ signals, health, providerCalls int64 }

// news counts what happened to the workflows since they were looked at.
func (f *fleet) news(before []mark) news {
	f.tb.Helper()
	var n news
	f.each("look for news of a workflow", func(i int) error {
		id := wire.ProxyID(ref.Of(f.proxies[i]))
		now, err := markOf(f.ctx, f.temporal, id)
		if err != nil || now == before[i] {
			return err
		}
		events, err := since(f.ctx, f.temporal, id, before[i])
		for _, e := range events {
			n.add(e)
		}
		return err
	})
	return n
}

// add counts an event; several may be added at a time.
func (n *news) add(e *historypb.HistoryEvent) {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		if e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == wire.SignalHealth {
			atomic.AddInt64(&n.health, 1)
		} else {
			atomic.AddInt64(&n.signals, 1)
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		if strings.HasPrefix(e.GetActivityTaskScheduledEventAttributes().GetTaskQueue().GetName(), wire.ProviderQueue("")) {
			atomic.AddInt64(&n.providerCalls, 1)
		}
	}
}

// wakeSome wakes some of the proxies, which must find that there is nothing to do.
func (f *fleet) wakeSome() {
	f.tb.Helper()
	some := *f
	some.proxies = f.proxies[:min(wakened, len(f.proxies))]
	before := some.marks()
	some.each("wake a workflow", func(i int) error {
		return f.temporal.SignalWorkflow(f.ctx, wire.ProxyID(ref.Of(f.proxies[i])), "", wire.SignalChanged, nil)
	})
	some.each("wait until a workflow parks again", func(i int) error {
		id := wire.ProxyID(ref.Of(f.proxies[i]))
		eventually.Within(f.tb, "a workflow parks again", parkedPatience, func() bool {
			now, err := markOf(f.ctx, f.temporal, id)
			return err == nil && now.run != before[i].run && f.parks(ref.Of(f.proxies[i]))
		})
		events, err := since(f.ctx, f.temporal, id, before[i])
		for _, e := range events {
			if name := e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(); name != "" && name != wire.ActivityClaim {
				f.tb.Errorf("a seeded proxy that was woken ran %s: it was not parked as it would have been", name)
			}
		}
		return err
	})
}
