package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	enumspb "go.temporal.io/api/enums/v1"
	temporalclient "go.temporal.io/sdk/client"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/drain"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/process/forward/forwardtest"
	"example.com/fairlead/activities/sweep"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/worker"
)

// asProxy is the argument that makes this test program a proxy.
const asProxy = "proxy"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asProxy {
		os.Exit(forwardtest.Main(os.Args[2:]))
	}
	os.Exit(localtest.Main(m))
}

// world is a cluster, a Temporal namespace and a provider "local", with a worker and
// the Schedules. Sweeps run when a test asks, and once when their Schedule is made.
type world struct {
	t         *testing.T
	live      client.Client
	temporal  temporalclient.Client
	signaller *starter.Signaller
	namespace string
	cluster   string
	stateDir  string
	// api knows the leases; the zero value is none.
	api  drain.Options
	runs map[string]int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, stateDir: filepath.Join(t.TempDir(), "proxies"), runs: map[string]int{}}
	w.live, w.temporal = localtest.Client(t, localtest.ControlPlane(t)), localtest.TemporalClient(t)
	w.namespace = localtest.Namespace(t, w.live, "worker")
	var err error
	if w.cluster, err = kube.Identity(t.Context(), w.live); err != nil {
		t.Fatal(err)
	}
	w.signaller = &starter.Signaller{Temporal: w.temporal}
	t.Cleanup(func() {
		if err := w.machine(w.cluster, 0).DeleteAll(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return w
}

// machine is the provider as it was some time ago, or that of another cluster.
func (w *world) machine(cluster string, ago time.Duration) *process.Provider {
	w.t.Helper()
	p, err := process.New(process.Options{
		Settings: process.Settings{StateDir: w.stateDir}, ClusterID: cluster,
		Command: []string{os.Args[0], asProxy}, Now: func() time.Time { return time.Now().Add(-ago) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// run runs the worker and keeps the Schedules until the test ends.
func (w *world) run() {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "providers.yaml")
	content := fmt.Sprintf("providers: [{name: local, type: process, process: {stateDir: %s}}]", w.stateDir)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
	build := process.Builder(process.Options{ClusterID: w.cluster, Command: []string{os.Args[0], asProxy}})
	providers, err := provider.Load(path, map[string]provider.Builder{process.Type: build}, localtest.Quiet())
	if err != nil {
		w.t.Fatal(err)
	}
	metrics, err := sweep.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 2)
	go func() {
		ended <- worker.Run(ctx, worker.Options{
			Temporal: w.temporal, Kubernetes: w.live, Providers: providers, API: w.api, Log: localtest.Quiet(),
			Sweeps: &worker.SweepOptions{Cache: w.live, Workflows: w.signaller, Orphans: sweep.DefaultOrphans(), Metrics: metrics},
		})
	}()
	schedules := &starter.Schedules{Temporal: w.temporal, Providers: providers, Every: time.Hour, Log: localtest.Quiet()}
	go func() { ended <- schedules.Start(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				w.t.Error(err)
			}
		}
	})
}

// instance makes one, an hour old, for the object with this name and UID.
func (w *world) instance(cluster, name, uid string) (dir string) {
	w.t.Helper()
	m := w.machine(cluster, time.Hour)
	places, err := m.Places(w.t.Context(), "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	id := provider.ID{Place: places[0], Name: provider.InstanceName(uid)}
	_, err = m.Create(w.t.Context(), provider.Request{
		ID: id, Incarnation: 1, Owner: provider.Owner{Namespace: w.namespace, Name: name, UID: uid, ClusterID: cluster},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return filepath.Join(w.stateDir, id.Name)
}

func (w *world) create(p *crawl.Proxy) wire.ProxyRef {
	w.t.Helper()
	p.Namespace = w.namespace
	if err := w.live.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return ref.Of(p)
}

func (w *world) running(key wire.ProxyRef) bool {
	w.t.Helper()
	ok, err := w.signaller.Running(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return ok
}

// sweep runs a Schedule once more, the first time when it is made, and returns the
// id of the workflow once that has ended well.
func (w *world) sweep(schedule string, result any) (id string) {
	w.t.Helper()
	h := w.temporal.ScheduleClient().GetHandle(w.t.Context(), schedule)
	if w.runs[schedule] > 0 {
		if err := h.Trigger(w.t.Context(), temporalclient.ScheduleTriggerOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.runs[schedule]++
	var run *temporalclient.ScheduleWorkflowExecution
	eventually.Until(w.t, schedule+" runs", func() bool {
		d, err := h.Describe(w.t.Context())
		if err != nil || d.Info.NumActions < w.runs[schedule] {
			return false // its Schedule is not made yet
		}
		run = d.Info.RecentActions[len(d.Info.RecentActions)-1].StartWorkflowResult
		return true
	})
	if err := w.temporal.GetWorkflow(w.t.Context(), run.WorkflowID, run.FirstExecutionRunID).Get(w.t.Context(), result); err != nil {
		w.t.Fatal(err)
	}
	return run.WorkflowID
}

// activities counts those of a workflow.
func (w *world) activities(id string) int {
	w.t.Helper()
	events, n := w.temporal.GetWorkflowHistory(w.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT), 0
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			n++
		}
	}
	return n
}
