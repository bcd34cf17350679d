package worker_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	temporalclient "go.temporal.io/sdk/client"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

func TestOrphansGoAfterTwoSweeps(t *testing.T) {
	w := newWorld(t)
	owner := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Name: "owner", Annotations: map[string]string{crawl.AnnotationPaused: "true"}},
		Spec:       crawl.ProxySpec{Provider: "local"},
	}
	ownerRef := w.create(owner)
	stray := w.instance(w.cluster, "stray", "uid-stray")
	spared := map[string]string{
		"whose object exists":      w.instance(w.cluster, "owner", ownerRef.UID),
		"whose workflow is open":   w.instance(w.cluster, "open", "uid-open"),
		"that is another clusters": w.instance("elsewhere", "foreign", "uid-foreign"),
	}
	open := wire.ProxyID(wire.ProxyRef{Namespace: w.namespace, Name: "open", UID: "uid-open"})
	if _, err := w.temporal.ExecuteWorkflow(t.Context(), temporalclient.StartWorkflowOptions{ID: open, TaskQueue: "nobody"}, wire.WorkflowProxy); err != nil {
		t.Fatal(err)
	}
	w.run()

	alive := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}
	var first, second, third wire.SweepResult
	id := w.sweep("sweep/local", &first)
	if !alive(stray) || len(first.Suspects) != 2 || first.Orphans != 0 || first.Instances != 3 {
		t.Errorf("after one sweep the stray is there: %v, result %+v", alive(stray), first)
	}
	if n := w.activities(id); n != 1 {
		t.Errorf("a sweep that has nothing to do ran %d activities", n)
	}
	w.sweep("sweep/local", &second)
	outcomes := map[string]string{}
	for _, k := range second.Kills {
		outcomes[k.Name] = k.Outcome
	}
	want := map[string]string{
		provider.InstanceName("uid-stray"): "deleted",
		provider.InstanceName("uid-open"):  "left alone: its workflow is open",
	}
	if diff := cmp.Diff(want, outcomes); diff != "" || alive(stray) {
		t.Errorf("after two sweeps the stray is there: %v, kills (-want +got):\n%s", alive(stray), diff)
	}
	w.sweep("sweep/local", &third)
	for what, dir := range spared {
		if !alive(dir) {
			t.Errorf("an instance %s was deleted", what)
		}
	}
	var h crawl.ProviderHealth
	if err := w.live.Get(t.Context(), client.ObjectKey{Name: "local"}, &h); err != nil || h.Status.Summary != "1/1" || h.Status.Type != process.Type {
		t.Errorf("ProviderHealth %+v, error %v", h.Status, err)
	}
}

func TestObjectsWithoutWorkflowGetOne(t *testing.T) {
	w := newWorld(t)
	endpoint := &crawl.Endpoint{Host: "192.0.2.1", Port: 3128}
	idle := w.create(&crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Name: "idle"}, Spec: crawl.ProxySpec{Mode: crawl.ModeExternal, Endpoint: endpoint}})
	unknown := w.create(&crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Name: "unknown"}, Spec: crawl.ProxySpec{Provider: "nowhere"}})
	w.run()
	for _, key := range []wire.ProxyRef{idle, unknown} {
		if err := w.signaller.Changed(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		eventually.Until(t, key.Name+" is at rest", func() bool {
			var p crawl.Proxy
			err := w.live.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, &p)
			return err == nil && p.Status.Phase != "" && w.running(key)
		})
	}
	started := func() int {
		t.Helper()
		var r wire.ObjectSweepResult
		id := w.sweep("sweep/objects", &r)
		if n := w.activities(id); n != 1 {
			t.Errorf("a sweep of the objects ran %d activities", n)
		}
		return r.Started
	}
	eventually.Until(t, "all run, and nobody is started", func() bool { return started() == 0 })
	if err := w.temporal.TerminateWorkflow(t.Context(), wire.ProxyID(idle), "", "test"); err != nil {
		t.Fatal(err)
	}
	if err := w.temporal.CancelWorkflow(t.Context(), wire.ProxyID(unknown), ""); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "both have ended", func() bool { return !w.running(idle) && !w.running(unknown) })
	eventually.Until(t, "both run again", func() bool {
		started()
		return w.running(idle) && w.running(unknown)
	})
}
