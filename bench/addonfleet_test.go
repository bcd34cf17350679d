package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// systemNamespace is the one that deploy/rbac makes for Fairlead.
const systemNamespace = "fairlead-system"

// addonFleet are add-ons and the program that keeps them.
type addonFleet struct {
	*world

	repo    string
	objects []*addons.Addon
	worker  *running
	memory  *watched
}

// newAddonFleet starts worker and starter, with the rights of an installation for what the
// add-ons have. Nothing but a benchmark has the add-ons looked at.
func (w *world) newAddonFleet(charts map[string]map[string]string) *addonFleet {
	w.tb.Helper()
	w.must("make what add-ons need", controlplane.Apply(w.ctx, w.rest, deploy.Files, "rbac/*.yaml"))
	f := &addonFleet{world: w, repo: chartRepository(w.tb, charts).URL}
	w.tb.Cleanup(f.forget)
	f.worker = w.start("worker", append([]string{fairlead(w.tb), "worker", "--cache-dir", w.tb.TempDir()}, f.flags()...))
	f.memory = w.watchMemory(f.worker)
	w.start("starter", append([]string{fairlead(w.tb), "starter", "--addon-sweep-interval", "24h"}, f.flags()...))
	return f
}

func (f *addonFleet) flags() []string {
	return []string{
		"--only", "addons", "--kubeconfig", localtest.Kubeconfig(f.tb, f.rest), "--log-level", "warn",
		"--temporal-address", f.temporalAddress, "--temporal-namespace", f.temporalNamespace,
	}
}

// addon is one that makes a release of a chart in the benchmark's namespace.
func (f *addonFleet) addon(name, chart string) *addons.Addon {
	return &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: addons.AddonSpec{Namespace: f.namespace, Source: addons.AddonSource{
			Helm: &addons.HelmSource{Repo: f.repo, Chart: chart, Version: benchedVersion},
		}},
	}
}

// sync creates add-ons, one after the other, and returns how long it took until all of them
// were Synced.
func (f *addonFleet) sync(objects ...*addons.Addon) time.Duration {
	f.tb.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, parkedPatience)
	defer cancel()
	watch, err := localtest.Client(f.tb, f.rest).Watch(ctx, &addons.AddonList{})
	f.must("watch Addons", err)
	defer watch.Stop()
	waits := map[string]bool{}
	for _, a := range objects {
		waits[a.Name] = true
	}
	start := time.Now()
	f.objects = append(f.objects, objects...)
	for _, a := range objects {
		f.must("create an Addon", f.client.Create(ctx, a))
	}
	for len(waits) > 0 {
		event, open := <-watch.ResultChan()
		if !open {
			f.tb.Fatalf("%d add-ons are not Synced: %s", len(waits), f.oneOf(waits))
		}
		if a, ok := event.Object.(*addons.Addon); ok && a.Status.Phase == addons.PhaseSynced {
			delete(waits, a.Name)
		}
	}
	return time.Since(start)
}

// oneOf says how one of some add-ons is.
func (f *addonFleet) oneOf(names map[string]bool) string {
	for name := range names {
		var a addons.Addon
		if err := f.client.Get(f.ctx, client.ObjectKey{Name: name}, &a); err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s is %s: %s", name, a.Status.Phase, a.Status.Message)
	}
	return ""
}

// forget removes the add-ons and all that was made for them: the next benchmark shares the
// API server.
func (f *addonFleet) forget() {
	f.tb.Helper()
	f.ctx = context.WithoutCancel(f.ctx) // a cleanup
	for _, a := range f.objects {
		free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		f.must("take the finalizer off an Addon", client.IgnoreNotFound(f.client.Patch(f.ctx, a, free)))
		f.must("delete an Addon", client.IgnoreNotFound(f.client.Delete(f.ctx, a)))
	}
	f.empty(systemNamespace)
	f.empty(f.namespace)
}

// empty deletes what releases make in a namespace, and what is kept of them.
func (w *world) empty(namespace string) {
	w.tb.Helper()
	for _, kind := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &appsv1.Deployment{}} {
		w.must("delete what a release made", w.client.DeleteAllOf(w.ctx, kind, client.InNamespace(namespace)))
	}
}

func addonRef(a *addons.Addon) wire.AddonRef { return wire.AddonRef{Name: a.Name, UID: string(a.UID)} }

// firstEpisode is what the histories of add-ons show of their first sync.
type firstEpisode struct {
	// activities is the most that one of them took.
	activities int
	// largest is the size of the largest event, in bytes, of all runs.
	largest int
}

func (f *addonFleet) firstEpisodes(tb testing.TB) firstEpisode {
	tb.Helper()
	var out firstEpisode
	for _, a := range f.objects {
		id := wire.AddonID(addonRef(a))
		first, err := beginning(f.ctx, f.temporal, id)
		f.must("find the first run of a workflow", err)
		events, err := since(f.ctx, f.temporal, id, first)
		f.must("read the history of a workflow", err)
		activities, over := 0, false
		for _, e := range events {
			out.largest = max(out.largest, e.Size())
			over = over || e.GetWorkflowExecutionContinuedAsNewEventAttributes() != nil
			if !over && e.GetActivityTaskScheduledEventAttributes() != nil {
				activities++
			}
		}
		out.activities = max(out.activities, activities)
	}
	return out
}
