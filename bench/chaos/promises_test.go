package main

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

const uid = "5f0c7f5e-0000-4000-8000-000000000001"

// proxyBuilder builds what the observer sees of an object.
type proxyBuilder struct{ *crawl.Proxy }

func newProxy(sequence int64) proxyBuilder {
	return proxyBuilder{&crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: kubeNamespace, Name: "c-0001", UID: uid, Finalizers: []string{crawl.Finalizer}},
		Status:     crawl.ProxyStatus{Sequence: sequence},
	}}
}

func (b proxyBuilder) ledger(incarnations ...int64) proxyBuilder {
	for _, n := range incarnations {
		b.Status.Instances = append(b.Status.Instances, crawl.InstanceRecord{Provider: "red", Name: provider.InstanceName(uid), Incarnation: n})
	}
	return b
}

func (b proxyBuilder) free() proxyBuilder {
	b.Finalizers = nil
	return b
}

func (b proxyBuilder) skipCleanup() proxyBuilder {
	b.Annotations = map[string]string{crawl.AnnotationSkipCleanup: "true"}
	return b
}

func newTestObserver(t *testing.T, live client.WithWatch) (o *observer, broken *[]verdict) {
	broken = &[]verdict{}
	fail := func(v *violation) { *broken = append(*broken, v.verdict) }
	return newObserver(kubeNamespace, map[string]string{"red": t.TempDir(), "blue": t.TempDir()}, 1, live, fail), broken
}

// at is b with its ledger at the place that the state directory of red is.
func (b proxyBuilder) at(o *observer) *crawl.Proxy {
	p := b.DeepCopy()
	for i := range p.Status.Instances {
		p.Status.Instances[i].Place = o.stateDirs["red"] + "#here"
	}
	return p
}

func TestPromises(t *testing.T) {
	tests := []struct {
		name string
		// onDisk is the incarnation whose directory is there; 0 for none.
		onDisk int64
		seen   []proxyBuilder
		gone   bool // after that
		want   []verdict
	}{
		{name: "the ledger keeps what is there", onDisk: 1, seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(2).ledger(1)}},
		{name: "an entry leaves with its instance", seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(2)}},
		{name: "an entry leaves before its instance", onDisk: 1, seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(2)}, want: []verdict{leaked}},
		{name: "an entry leaves once its successor is there", onDisk: 2, seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(2).ledger(2)}},
		{name: "the finalizer goes last", seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(2), newProxy(2).free()}, gone: true},
		{name: "the finalizer goes before the instance", onDisk: 1, seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(1).ledger(1).free()}, want: []verdict{leaked}},
		{name: "the object goes before the instance", onDisk: 1, seen: []proxyBuilder{newProxy(1).ledger(1)}, gone: true, want: []verdict{leaked}},
		{name: "an abandoned instance may stay", onDisk: 1, seen: []proxyBuilder{newProxy(1).ledger(1), newProxy(1).ledger(1).skipCleanup(), newProxy(2).skipCleanup().free()}, gone: true},
		{name: "the sequence goes back", seen: []proxyBuilder{newProxy(2), newProxy(1)}, want: []verdict{broken}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, got := newTestObserver(t, nil)
			if tt.onDisk > 0 {
				place(t, o.stateDirs["red"], instance{name: provider.InstanceName(uid), uid: uid, incarnation: tt.onDisk, lifeFile: "life-x"})
			}
			for _, b := range tt.seen {
				o.saw(b.at(o))
			}
			if tt.gone {
				o.sawGone(tt.seen[len(tt.seen)-1].at(o))
			}
			if diff := cmp.Diff(append([]verdict{}, tt.want...), *got); diff != "" {
				t.Errorf("broken promises (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnObjectThatIsMissingFromTheListIsGone(t *testing.T) {
	o, got := newTestObserver(t, nil)
	place(t, o.stateDirs["red"], instance{name: provider.InstanceName(uid), uid: uid, incarnation: 1, lifeFile: "life-x"})
	o.saw(newProxy(1).ledger(1).Proxy)
	o.relist(nil)
	if s, found := o.find(uid); !found || !s.gone {
		t.Errorf("it is not taken for gone: %+v", s)
	}
	if diff := cmp.Diff([]verdict{leaked}, *got); diff != "" {
		t.Errorf("broken promises (-want +got):\n%s", diff)
	}
}

func TestAProxyThatIsNotReadyIsNoLeak(t *testing.T) {
	name := provider.InstanceName(uid)
	o, _ := newTestObserver(t, nil)
	o.saw(newProxy(3).ledger(1).Proxy)
	whole := func() remains { return remains{dirs: map[string]int{name: 1}, processes: map[string]int{name: 1}} }
	if err := o.match(whole()); !errors.Is(err, errUnready) {
		t.Errorf("the verdict is %v", err)
	}
	more := whole()
	more.processes["proxy-x"] = 1
	if err := o.match(more); err == nil || errors.Is(err, errUnready) {
		t.Errorf("with a process of nobody the verdict is %v", err)
	}
}

func TestACreateWhileTheAPIServerWasDownIsHeldToTheLedgerLater(t *testing.T) {
	unchecked := func(o *observer) call {
		e := newProxy(1).ledger(2).at(o).Status.Instances[0]
		return call{Instance: e.Name, Method: methodCreate, Unchecked: &e}
	}
	for _, tt := range []struct {
		name    string
		seen    proxyBuilder // before
		live    client.Reader
		pending int
		want    []verdict
	}{
		{name: "its entry was seen before", seen: newProxy(1).ledger(2), live: down{}},
		{name: "the API server is still down", seen: newProxy(1), live: down{}, pending: 1},
		{name: "the entry is not there", seen: newProxy(1), live: oneObject{p: newProxy(1).ledger(1).Proxy}, want: []verdict{leaked}},
		{name: "the object is gone", seen: newProxy(1), live: oneObject{}, want: []verdict{leaked}},
		{name: "the instance may be left behind", seen: newProxy(1).skipCleanup(), live: oneObject{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, got := newTestObserver(t, readOnly{Reader: tt.live})
			o.saw(tt.seen.at(o))
			o.heard(unchecked(o))
			o.catchUp(t.Context())
			if diff := cmp.Diff(append([]verdict{}, tt.want...), *got); diff != "" || len(o.unchecked) != tt.pending {
				t.Errorf("%d are left; broken promises (-want +got):\n%s", len(o.unchecked), diff)
			}
		})
	}
}

// readOnly is a client that reads by Reader.
type readOnly struct {
	client.WithWatch
	client.Reader
}

func (r readOnly) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return r.Reader.Get(ctx, key, into, o...)
}

func (r readOnly) List(ctx context.Context, into client.ObjectList, o ...client.ListOption) error {
	return r.Reader.List(ctx, into, o...)
}

func TestMatch(t *testing.T) {
	name := provider.InstanceName(uid)
	ready := newProxy(3).ledger(1)
	ready.Status.Phase = crawl.PhaseReady
	for _, tt := range []struct {
		name            string
		dirs, processes map[string]int
		idle            []string
		gone, fails     bool
	}{
		{name: "one of each", dirs: map[string]int{name: 1}, processes: map[string]int{name: 1}},
		{name: "no process", dirs: map[string]int{name: 1}, fails: true},
		{name: "two processes", dirs: map[string]int{name: 1}, processes: map[string]int{name: 2}, fails: true},
		{name: "a process that does not listen", dirs: map[string]int{name: 1}, processes: map[string]int{name: 1}, idle: []string{name}, fails: true},
		{name: "nothing of an object that is gone", gone: true},
		{name: "a directory of an object that is gone", dirs: map[string]int{name: 1}, gone: true, fails: true},
		{name: "a process of nobody", dirs: map[string]int{name: 1}, processes: map[string]int{name: 1, "proxy-x": 1}, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := newTestObserver(t, nil)
			o.saw(ready.Proxy)
			if tt.gone {
				o.sawGone(ready.Proxy)
			}
			if err := o.match(remains{tt.dirs, tt.processes, tt.idle}); (err != nil) != tt.fails {
				t.Errorf("the verdict is %v", err)
			}
		})
	}
}
