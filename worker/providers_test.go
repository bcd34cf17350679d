package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
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
		}{}
		err := provider.DecodeSettings(settings, &s)
		return &settled{place: s.Place}, err
	}
	r, err := provider.Load(path, map[string]provider.Builder{"process": build}, slog.New(slog.DiscardHandler))
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

func TestTheProvidersFileWakesWhomItConcerns(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := crawl.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := []client.Object{
		told("new", "here", "", ""),
		told("up", "here", wire.ReasonCreated, "/a"),
		told("elsewhere", "here", wire.ReasonCreated, "/former"),
		told("back", "here", wire.ReasonUnavailable, "/a"),
		told("lost", "gone", wire.ReasonCreated, "/a"),
		told("still-lost", "gone", wire.ReasonUnavailable, "/a"),
		told("refused", "here", wire.ReasonPermanent, ""),
		told("no-room", "here", wire.ReasonQuota, ""),
	}
	pauses := make(chan time.Time)
	wakes := &woken{fail: errors.New("Temporal is away")}
	o := WakeOptions{
		Cache: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Wake:  wakes, Log: slog.New(slog.DiscardHandler),
		After:     func(time.Duration) <-chan time.Time { return pauses },
		Providers: registry(t, filepath.Join(t.TempDir(), "providers.yaml"), "providers: [{name: here, type: process, process: {place: /a}}]"),
	}
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { defer close(ended); WakeMoved(ctx, o) }()
	want := []string{"back", "elsewhere", "lost", "no-room", "refused"}
	for range 20 { // whoever is concerned is woken until that shows, however long it takes
		pauses <- time.Time{}
	}
	cancel()
	<-ended
	if diff := cmp.Diff(want, wakes.set()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	counts := map[string]int{}
	for _, name := range wakes.names {
		counts[name]++
	}
	if counts["refused"] > 2 || counts["back"] < 20 {
		t.Errorf("woken so often: %v; want one that was refused for good once for each change, one that waits each time", counts)
	}
}
