package addon_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// office is where Addon objects are read and written: nothing is looked at in the cluster.
type office struct {
	*addon.Activities
	*testing.T

	// now is what the clock says.
	now *clocktesting.FakePassiveClock
}

func newOffice(t *testing.T) *office {
	t.Helper()
	config := localtest.ControlPlane(t)
	config.QPS = -1
	c := localtest.Client(t, config)
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	system := localtest.Namespace(t, c, "office")
	sets, err := setstore.Open(t.Context(), setstore.Options{Client: c, Namespace: system, Clock: now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return &office{
		Activities: &addon.Activities{Client: c, Store: kept.Store{Store: sets}, System: system, Log: localtest.Quiet(), Now: now.Now},
		T:          t, now: now,
	}
}

// create makes an add-on that depends on others.
func (o *office) create(name string, dependsOn ...string) wire.AddonRef {
	o.Helper()
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: o.System + "-" + name},
		Spec: addons.AddonSpec{
			Namespace: "default",
			Source:    addons.AddonSource{Git: &addons.GitSource{Repo: "example/addons", Path: "."}},
		},
	}
	for _, d := range dependsOn {
		a.Spec.DependsOn = append(a.Spec.DependsOn, addons.Dependency{Name: o.System + "-" + d})
	}
	o.must(o.Client.Create(o.Context(), a))
	return wire.AddonRef{Name: a.Name, UID: string(a.UID)}
}

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o *office) read(ref wire.AddonRef) *addons.Addon {
	o.Helper()
	var a addons.Addon
	o.must(o.Client.Get(o.Context(), client.ObjectKey{Name: ref.Name}, &a))
	return &a
}

// edit changes an add-on as its owner does.
func (o *office) edit(ref wire.AddonRef, change func(*addons.Addon)) {
	o.Helper()
	a := o.read(ref)
	change(a)
	o.must(o.Client.Update(o.Context(), a, client.FieldOwner("owner")))
}

func (o *office) delete(ref wire.AddonRef) {
	o.Helper()
	o.must(o.Client.Delete(o.Context(), o.read(ref)))
}

func (o *office) claim(ref wire.AddonRef) wire.AddonClaim {
	o.Helper()
	c, err := o.Claim(o.Context(), ref)
	o.must(err)
	return c
}

func (o *office) publish(in wire.AddonPublishInput) {
	o.Helper()
	o.must(o.Publish(o.Context(), in))
}

// rendered keeps a render with objects, as YAML, and hooks: Jobs at the events.
func (o *office) rendered(ref wire.AddonRef, objects string, hooks map[string]manifest.Event) string {
	o.Helper()
	r := kept.Render{Revision: "demo-1.0.0", Content: "content"}
	var err error
	if objects != "" {
		r.Set.Objects, err = manifest.Parse("demo/templates/all.yaml", []byte(objects))
		o.must(err)
	}
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		job := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": name, "namespace": "default"},
		}}
		r.Set.Hooks = append(r.Set.Hooks, manifest.Hook{
			Object: manifest.Object{Unstructured: job}, Events: []manifest.Event{hooks[name]},
			DeletePolicies: []manifest.DeletePolicy{manifest.BeforeHookCreation},
		})
	}
	d, err := o.Store.PutRender(o.Context(), ref.Name, r)
	o.must(err)
	return string(d)
}

// inventory keeps one of so many ConfigMaps with long names.
func (o *office) inventory(ref wire.AddonRef, count int) string {
	o.Helper()
	var all kept.Inventory
	for i := range count {
		owned := plan.Owned{UID: "u"}
		owned.ID.Kind, owned.ID.Namespace = "ConfigMap", "default"
		owned.ID.Name = fmt.Sprintf("%s-%05d", strings.Repeat("n", 240), i)
		all = append(all, owned)
	}
	d, err := o.Store.PutInventory(o.Context(), ref.Name, all)
	o.must(err)
	return string(d)
}

// planned keeps a plan.
func (o *office) planned(ref wire.AddonRef, render string, items ...plan.Item) string {
	o.Helper()
	p := kept.Plan{Plan: plan.Plan{Hash: "plan", Items: items}, Render: setstore.Digest(render)}
	d, err := o.Store.PutPlan(o.Context(), ref.Name, p)
	o.must(err)
	return string(d)
}

// lose deletes a set.
func (o *office) lose(digest string) {
	o.Helper()
	first := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.System, Name: "addon-set-" + digest + "-0"}}
	o.must(o.Client.Delete(o.Context(), first))
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
