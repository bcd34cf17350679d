package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

const (
	// patience is how long a busy machine may take; nothing that is measured waits.
	patience = 2 * time.Minute
	// batch is how many instances there are at a time.
	batch = 20
)

// BenchmarkCreateLatency measures from the request that creates a Proxy until the
// provider's Create is called, one Proxy after the other: through
// Fairlead, and through a bare reconciler that calls the same provider on the event.
func BenchmarkCreateLatency(b *testing.B) {
	w := newWorld(b)
	file, _ := w.providersFile("process")
	reached := newCalls()
	r := w.registry(file, reached)
	b.Cleanup(func() { endInstances(b, r) })
	w.runFairlead(r, nil)
	p, err := r.Get("process")
	w.must("find the provider", err)
	bare := w.newNamespace()
	w.runBare(bare, p)
	// Caches fill and workers begin to poll, which is not to be measured.
	w.createOne(w.namespace, "first", reached)
	w.createOne(bare, "first", reached)

	for b.Loop() {
		var ours, theirs []time.Duration
		for len(ours) < *samples {
			n := min(batch, *samples-len(ours))
			for i := range n {
				ours = append(ours, w.createOne(w.namespace, numbered("p", i), reached))
				theirs = append(theirs, w.createOne(bare, numbered("p", i), reached))
			}
			b.StopTimer()
			w.wipe(w.namespace)
			w.wipe(bare)
			endInstances(b, r) // those of the bare reconciler, which deletes nothing
			b.StartTimer()
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		b.ReportMetric(0, "ns/op") // of a batch and its removal: says nothing
		b.ReportMetric(millis(percentile(ours, 50)), "ms-p50")
		b.ReportMetric(millis(percentile(ours, 99)), "ms-p99")
		b.ReportMetric(millis(percentile(theirs, 50)), "bare-ms-p50")
		b.ReportMetric(millis(percentile(theirs, 99)), "bare-ms-p99")
		b.ReportMetric(float64(percentile(ours, 50))/float64(percentile(theirs, 50)), "x-bare")
	}
}

// createOne creates a Proxy and waits until all about it is at rest. It returns how
// long the provider's Create took to be called.
func (w *world) createOne(namespace, name string, reached *calls) time.Duration {
	w.tb.Helper()
	p := managed(namespace, name, "process")
	// From the request, not from its answer: a watcher may know of the object before
	// whoever created it does.
	asked := time.Now()
	w.must("create a Proxy", w.client.Create(w.ctx, p))
	var at time.Time
	eventually.Within(w.tb, "the provider is called", patience, func() bool {
		var ok bool
		at, ok = reached.createdAt(string(p.UID))
		return ok
	})
	eventually.Within(w.tb, "the instance is published", patience, func() bool {
		return w.get(p).Status.IsTrue(crawl.ConditionProvisioned)
	})
	return at.Sub(asked)
}

// runBare runs the least that a controller could be: it reads the object from its
// cache, calls Create and says so in the status. It keeps no promise.
func (w *world) runBare(namespace string, p provider.Provider) {
	w.tb.Helper()
	mgr := w.newManager(namespace, nil)
	c, err := controller.New("bare", mgr, controller.Options{Reconciler: &bareReconciler{
		cache: mgr.GetClient(), provider: p, clusterID: w.clusterID,
	}})
	w.must("set up the bare reconciler", err)
	w.must("watch Proxies", c.Watch(source.Kind(mgr.GetCache(), &crawl.Proxy{}, &handler.TypedEnqueueRequestForObject[*crawl.Proxy]{})))
	w.run("the bare reconciler", mgr.Start)
}

type bareReconciler struct {
	cache     client.Client
	provider  provider.Provider
	clusterID string
}

func (r *bareReconciler) Reconcile(ctx context.Context, in reconcile.Request) (reconcile.Result, error) {
	var p crawl.Proxy
	err := r.cache.Get(ctx, in.NamespacedName, &p)
	if err != nil || p.Status.IsTrue(crawl.ConditionProvisioned) {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	req, err := desired.Request(ctx, r.cache, &p)
	if err != nil {
		return reconcile.Result{}, err
	}
	places, err := r.provider.Places(ctx, p.Namespace, &p.Spec)
	if err != nil {
		return reconcile.Result{}, err
	}
	req.Place, req.Owner.ClusterID, req.Incarnation = places[0], r.clusterID, 1
	inst, err := r.provider.Create(ctx, req)
	if err != nil {
		return reconcile.Result{}, err
	}
	p.Status = crawl.ProxyStatus{IP: inst.Host, Port: inst.Port, Conditions: trueConditions(wire.ReasonCreated)[:1]}
	return reconcile.Result{}, r.cache.Status().Update(ctx, &p)
}
