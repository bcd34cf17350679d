package worker

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// settled is a provider of which only Places is asked.
type settled struct {
	provider.Provider
	place string
}

func (s *settled) Places(context.Context, string, *crawl.ProxySpec) ([]string, error) {
	return []string{s.place}, nil
}

func registry(t *testing.T, path, content string) *provider.Registry {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	build := func(_ string, settings json.RawMessage) (provider.Provider, error) {
		s := struct {
			Place string `json:"place"`
			Room  int    `json:"room"`
		}{}
		err := provider.DecodeSettings(settings, &s)
		return &settled{place: s.Place}, err
	}
	r, err := provider.Load(path, map[string]provider.Builder{"process": build}, localtest.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// woken are the names of the Proxies that were woken; a wake-up may fail first.
type woken struct {
	mu    sync.Mutex
	names []string
	fail  error
}

func (w *woken) Changed(_ context.Context, ref wire.ProxyRef) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail; err != nil {
		w.fail = nil
		return err
	}
	w.names = append(w.names, ref.Name)
	return nil
}

func (w *woken) set() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.names)))
}

func (w *woken) count(name string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, woke := range w.names {
		if woke == name {
			n++
		}
	}
	return n
}

// told is a Managed Proxy on provider whose status tells a reason and a place.
func told(name, on, reason, place string) *crawl.Proxy {
	p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "crawlers", Name: name}, Spec: crawl.ProxySpec{Mode: crawl.ModeManaged, Provider: on}}
	if reason != "" {
		p.Status.Conditions = []metav1.Condition{{Type: crawl.ConditionProvisioned, Reason: reason}}
	}
	if place != "" {
		p.Status.Instances = []crawl.InstanceRecord{{Provider: on, Place: place, Name: "proxy-x", Incarnation: 1}}
	}
	return p
}

func paused(p *crawl.Proxy) *crawl.Proxy {
	p.Annotations = map[string]string{crawl.AnnotationPaused: "true"}
	return p
}

func deleting(p *crawl.Proxy) *crawl.Proxy {
	p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{crawl.Finalizer}
	return p
}

// waking is a WakeMoved whose looks a test asks for.
type waking struct {
	woken
	file   string
	pauses chan time.Time
}

const onePlace = "providers: [{name: here, type: process, process: {place: /a}}]"

func wakeMoved(t *testing.T, fail error, objects ...client.Object) *waking {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &waking{woken: woken{fail: fail}, file: filepath.Join(t.TempDir(), "providers.yaml"), pauses: make(chan time.Time)}
	o := WakeOptions{
		Cache: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Wake:  w, Log: localtest.Quiet(),
		After:     func(time.Duration) <-chan time.Time { return w.pauses },
		Providers: registry(t, w.file, onePlace),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { WakeMoved(ctx, o) })
	running.Go(func() { _ = o.Providers.Follow(ctx) }) // ends with ctx
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

// looks lets so many looks follow.
func (w *waking) looks(n int) {
	for range n {
		w.pauses <- time.Time{}
	}
}

func TestTheProvidersFileWakesWhomItConcerns(t *testing.T) {
	w := wakeMoved(t, errors.New("Temporal is away"),
		told("new", "here", "", ""),
		told("up", "here", wire.ReasonCreated, "/a"),
		told("elsewhere", "here", wire.ReasonCreated, "/former"),
		told("back", "here", wire.ReasonUnavailable, "/a"),
		told("lost", "gone", wire.ReasonCreated, "/a"),
		told("still-lost", "gone", wire.ReasonUnavailable, "/a"),
		told("refused", "here", wire.ReasonPermanent, "/a"),
		told("no-room", "here", wire.ReasonQuota, "/a"),
		told("refused-elsewhere", "here", wire.ReasonPermanent, "/former"),
		paused(told("paused-lost", "gone", wire.ReasonPaused, "/a")),
		paused(told("paused-elsewhere", "here", wire.ReasonPaused, "/former")),
		deleting(told("deleting-lost", "gone", wire.ReasonDeleting, "/a")),
		told("wrong-cluster", "gone", wire.ReasonWrongCluster, "/a"),
		deleting(told("wrong-cluster-deleting", "gone", wire.ReasonWrongCluster, "/a")),
	)
	w.looks(20) // whoever is concerned is woken until that shows, however long it takes
	if diff := cmp.Diff([]string{"back", "elsewhere", "lost", "refused-elsewhere", "wrong-cluster", "wrong-cluster-deleting"}, w.set()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	for _, name := range []string{"refused-elsewhere", "wrong-cluster"} {
		if n := w.count(name); n > 2 {
			t.Errorf("%s was woken %d times after one start", name, n)
		}
	}
	if n := w.count("back"); n < 19 {
		t.Errorf("one that still waits was woken %d times in 20 looks", n)
	}
}

func TestOtherSettingsWakeWhomTheProviderRefusedOnce(t *testing.T) {
	w := wakeMoved(t, nil,
		told("up", "here", wire.ReasonCreated, "/a"),
		told("refused", "here", wire.ReasonPermanent, "/a"),
		told("no-room", "here", wire.ReasonQuota, "/a"),
		paused(told("paused", "here", wire.ReasonPermanent, "/a")),
	)
	w.looks(3)
	if got := w.set(); len(got) > 0 {
		t.Errorf("a start woke %v", got)
	}
	if err := os.WriteFile(w.file, []byte("providers: [{name: here, type: process, process: {place: /a, room: 7}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(w.set()) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the new settings woke %v only", w.set())
		}
	}
	w.looks(3)
	for _, name := range []string{"refused", "no-room"} {
		if n := w.count(name); n != 1 {
			t.Errorf("%s was woken %d times", name, n)
		}
	}
	if diff := cmp.Diff([]string{"no-room", "refused"}, w.set()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}
