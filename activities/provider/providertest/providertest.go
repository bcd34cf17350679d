// Package providertest is the contract of provider.Provider as tests that each
// provider passes, on its real backend.
package providertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

// deadline bounds each wait for a backend.
const deadline = time.Minute

// The clusters that share the backend of a Harness.
const (
	Cluster      = "11111111-1111-4111-8111-111111111111"
	OtherCluster = "22222222-2222-4222-8222-222222222222"
)

// Harness is a fresh, empty backend.
type Harness struct {
	// New makes a provider value for the cluster. Values of one Harness share the
	// backend: another value for the same cluster is a restart of the program.
	New func(clusterID string) provider.Provider
	// Place of the instances.
	Place string
	// Serves, if set, says whether an instance runs, whoever's it is.
	Serves func(provider.Instance) bool
	// Stop ends an instance by other means than the provider's.
	Stop func(t *testing.T, id provider.ID)
	// Halt, if set, ends an instance as a reboot of its host does; providers made
	// after it see the host as it is then.
	Halt func(t *testing.T, id provider.ID)
	// Foreign, if set, puts something that is not ours where the instance would be, and
	// returns whether it is still as it was.
	Foreign func(t *testing.T, id provider.ID) (there func() bool)
	// Settle, if set, makes a created instance come up where the backend does not by
	// itself.
	Settle func(t *testing.T, id provider.ID)
}

// Run tests the provider of the harness that newHarness makes for each test.
func Run(t *testing.T, newHarness func(*testing.T) Harness) {
	tests := map[string]func(*testing.T, Harness){
		"a created instance comes up as it was asked for":             testCreate,
		"creating it again returns it, whatever its hash":             testCreateAgain,
		"a restarted program finds its instances":                     testRestart,
		"concurrent creates of one name make one instance":            testConcurrentCreates,
		"an instance that never was is not found":                     testGetUnknown,
		"a deleted instance is gone and may be deleted again":         testDelete,
		"a deleted name can be created again":                         testRecreate,
		"a disowned instance runs on, out of sight":                   testDisown,
		"lists show all instances of this cluster and no other":       testList,
		"an instance of another cluster is left alone":                testForeign,
		"a backend that works is ready":                               testCheck,
		"names and places that the backend could not take are errors": testBadNames,
	}
	maps.Copy(tests, faultTests())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newHarness(t)) })
	}
}

// Request asks for an instance of a Proxy with this UID.
func (h Harness) Request(clusterID, uid string) provider.Request {
	return provider.Request{
		ID:          provider.ID{Place: h.Place, Name: provider.InstanceName(uid)},
		Owner:       provider.Owner{Namespace: "crawlers", Name: "proxy-of-" + uid, UID: uid, ClusterID: clusterID},
		Incarnation: 1,
		Hash:        "v1:0123456789abcdef",
	}
}

func (h Harness) create(t *testing.T, p provider.Provider, req provider.Request) provider.Instance {
	t.Helper()
	if err := p.Prepare(t.Context(), req); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	inst, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if h.Settle != nil {
		h.Settle(t, req.ID)
	}
	Eventually(t, "the instance runs", func() bool {
		inst = get(t, p, req.ID)
		return inst.State == provider.Running
	})
	return inst
}

func get(t *testing.T, p provider.Provider, id provider.ID) provider.Instance {
	t.Helper()
	inst, err := p.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return inst
}

// Eventually waits until ok, and fails t when that takes too long.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", deadline, what)
		}
	}
}

// remove deletes an instance and waits until it is gone.
func remove(t *testing.T, p provider.Provider, id provider.ID) {
	t.Helper()
	Eventually(t, "the instance is gone", func() bool {
		if err := p.Delete(t.Context(), id); err != nil {
			t.Fatalf("delete: %v", err)
		}
		_, err := p.Get(t.Context(), id)
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			t.Fatalf("get of a deleted instance: %v", err)
		}
		return err != nil
	})
}

func testCreate(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	if places, err := p.Places(t.Context(), req.Owner.Namespace, &req.Spec); err != nil || !slices.Contains(places, req.Place) {
		t.Errorf("the places are %q, %v, want %q among them", places, err, req.Place)
	}
	before := time.Now().Add(-time.Minute)
	inst := h.create(t, p, req)
	want := provider.Instance{ID: req.ID, Owner: req.Owner, Incarnation: req.Incarnation, Hash: req.Hash, State: provider.Running}
	// What the backend chooses only has to be there.
	got := inst
	got.ProviderID, got.Message, got.Host, got.Port, got.CreatedAt = "", "", "", 0, time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if inst.ProviderID == "" || inst.Host == "" || inst.Port == 0 || inst.CreatedAt.Before(before) {
		t.Errorf("a running instance lacks something: %+v", inst)
	}
}

func testCreateAgain(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	first := h.create(t, p, req)
	req.Hash, req.Incarnation = "v1:another", 2
	again, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create again: %v", err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

func testRestart(t *testing.T, h Harness) {
	req := h.Request(Cluster, "a")
	first := h.create(t, h.New(Cluster), req)
	restarted := h.New(Cluster)
	if diff := cmp.Diff(first, get(t, restarted, req.ID)); diff != "" {
		t.Errorf("get (-before +after):\n%s", diff)
	}
	again, err := restarted.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("create (-before +after):\n%s", diff)
	}
}

func testConcurrentCreates(t *testing.T, h Harness) {
	const callers = 8
	req := h.Request(Cluster, "a")
	var wg sync.WaitGroup
	for range callers {
		p := h.New(Cluster)
		wg.Go(func() {
			inst, err := p.Create(t.Context(), req)
			if err != nil || inst.Owner != req.Owner {
				t.Errorf("create returned %+v, %v", inst, err)
			}
		})
	}
	wg.Wait()
	if l := list(t, h.New(Cluster)); len(l) != 1 {
		t.Errorf("there are %d instances: %+v", len(l), l)
	}
}

func testGetUnknown(t *testing.T, h Harness) {
	p, id := h.New(Cluster), h.Request(Cluster, "a").ID
	if _, err := p.Get(t.Context(), id); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if err := p.Delete(t.Context(), id); err != nil {
		t.Errorf("delete: %v", err)
	}
}

func testDelete(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	h.create(t, p, req)
	remove(t, p, req.ID)
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete again: %v", err)
	}
	if l := list(t, p); len(l) != 0 {
		t.Errorf("the list still shows %+v", l)
	}
}

func testDisown(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	inst := h.create(t, p, req)
	for range 2 {
		if err := p.Disown(t.Context(), req.ID); err != nil {
			t.Fatalf("disown: %v", err)
		}
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get of a disowned instance: %v", err)
	}
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete of a disowned instance: %v", err)
	}
	if l, err := p.List(t.Context()); err != nil || len(l.Instances) != 0 {
		t.Errorf("the list shows %+v, %v", l, err)
	}
	if h.Serves != nil && !h.Serves(inst) {
		t.Error("the disowned instance does not run any more")
	}
}

func testRecreate(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	h.create(t, p, req)
	remove(t, p, req.ID)
	req.Incarnation, req.Hash = 2, "v1:another"
	if inst := h.create(t, p, req); inst.Incarnation != 2 || inst.Hash != req.Hash {
		t.Errorf("the new instance is %+v", inst)
	}
}

func list(t *testing.T, p provider.Provider) map[string]provider.Instance {
	t.Helper()
	l, err := p.List(t.Context())
	if err != nil || len(l.Incomplete) > 0 {
		t.Fatalf("list: %v, incomplete: %v", err, l.Incomplete)
	}
	byUID := map[string]provider.Instance{}
	for _, inst := range l.Instances {
		byUID[inst.Owner.UID] = inst
	}
	if len(byUID) != len(l.Instances) {
		t.Errorf("the list shows an instance twice: %+v", l.Instances)
	}
	return byUID
}

func testList(t *testing.T, h Harness) {
	p, other := h.New(Cluster), h.New(OtherCluster)
	if l := list(t, p); len(l) != 0 {
		t.Fatalf("an empty backend lists %+v", l)
	}
	want := map[string]provider.Instance{}
	for i := range 3 {
		uid := fmt.Sprint("ours-", i)
		want[uid] = h.create(t, p, h.Request(Cluster, uid))
	}
	theirs := h.create(t, other, h.Request(OtherCluster, "theirs"))
	if diff := cmp.Diff(want, list(t, p)); diff != "" {
		t.Errorf("our list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]provider.Instance{"theirs": theirs}, list(t, other)); diff != "" {
		t.Errorf("the list of the other cluster (-want +got):\n%s", diff)
	}
}

func testForeign(t *testing.T, h Harness) {
	p, other := h.New(Cluster), h.New(OtherCluster)
	req := h.Request(OtherCluster, "theirs")
	theirs := h.create(t, other, req)
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := p.Create(t.Context(), h.Request(Cluster, "theirs")); !errors.Is(err, provider.ErrPermanent) {
		t.Errorf("create over an instance of another cluster: %v", err)
	}
	if diff := cmp.Diff(theirs, get(t, other, req.ID)); diff != "" {
		t.Errorf("their instance changed (-before +after):\n%s", diff)
	}
}

func testCheck(t *testing.T, h Harness) {
	statuses := h.New(Cluster).Check(t.Context())
	if len(statuses) == 0 {
		t.Error("no target is checked")
	}
	for _, s := range statuses {
		if !s.Ready || s.Name == "" || s.Reason == "" {
			t.Errorf("the verdict is %+v", s)
		}
	}
}

func testBadNames(t *testing.T, h Harness) {
	p := h.New(Cluster)
	for _, id := range []provider.ID{
		{Place: h.Place}, {Place: h.Place, Name: "../escape"}, {Place: h.Place, Name: ".new-x"}, {Place: "../../etc", Name: "a"},
	} {
		req := h.Request(Cluster, "a")
		req.ID = id
		if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("create %+v: %v", id, err)
		}
		if _, err := p.Get(t.Context(), id); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("get %+v: %v", id, err)
		}
		if err := p.Delete(t.Context(), id); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("delete %+v: %v", id, err)
		}
	}
}
