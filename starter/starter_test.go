package starter_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// world is a cluster and a Temporal namespace without workers, so that signals
// stay to be counted.
type world struct {
	t         *testing.T
	client    client.Client
	temporal  temporalclient.Client
	namespace string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	var err error
	if w.client, err = client.New(localtest.ControlPlane(t), client.Options{Scheme: scheme(t)}); err != nil {
		t.Fatal(err)
	}
	address, namespace := localtest.Temporal(t)
	w.temporal, err = temporalclient.DialContext(t.Context(), temporalclient.Options{
		HostPort: address, Namespace: namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.temporal.Close)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "starter-"}}
	if err := w.client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	w.namespace = ns.Name
	return w
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, crawl.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a starter until stop is called.
func (w *world) run() (stop func()) {
	w.t.Helper()
	mgr, err := ctrl.NewManager(localtest.ControlPlane(w.t), ctrl.Options{
		Scheme:  scheme(w.t),
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			ByObject:          starter.CacheByObject(),
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
		},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // two in one process
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	s := &starter.Signaller{Temporal: w.temporal}
	if err := starter.Add(ctx, mgr, s); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("starter ended with %v", err)
		}
	}
}

func (w *world) create(name string, change ...func(*crawl.Proxy)) *crawl.Proxy {
	w.t.Helper()
	p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: crawl.ProxySpec{Provider: "process"}}
	for _, c := range change {
		c(p)
	}
	if err := w.client.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// observe makes the status speak of all inputs, as the workflow would.
func (w *world) observe(p *crawl.Proxy, versions map[string]string) {
	w.t.Helper()
	p.Status.ObservedInputs = p.Inputs(versions)
	p.Status.Phase = crawl.PhaseReady
	p.Status.Sequence++
	if err := w.client.Status().Update(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

// signals counts those that the workflow of p has got; -1 when there is none.
func (w *world) signals(p *crawl.Proxy) int {
	w.t.Helper()
	id := wire.ProxyID(ref.Of(p))
	events := w.temporal.GetWorkflowHistory(w.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	count := 0
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return -1
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			count++
		}
	}
	return count
}

func (w *world) eventually(what string, want int, got func() int) {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for seen := got(); seen != want; seen = got() {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: %d signals, want %d", what, seen, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestStarter(t *testing.T) {
	w := newWorld(t)
	stop := w.run()
	t.Run("a new object starts its workflow, and is signalled once while that has not answered", func(t *testing.T) {
		p := w.create("new")
		w.eventually("new object", 1, func() int { return w.signals(p) })
		p.Labels = map[string]string{"note": "no-input-of-the-workflow"}
		if err := w.client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		marker := w.create("marker") // by the time that this one is seen, the update was seen too
		w.eventually("marker", 1, func() int { return w.signals(marker) })
		if got := w.signals(p); got != 1 {
			t.Errorf("%d signals, want 1", got)
		}
	})
	t.Run("an edit, a rotated Secret and a removed label are signalled", func(t *testing.T) {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "auth", Labels: map[string]string{crawl.LabelCloudInit: "true"}},
			StringData: map[string]string{"username": "u", "password": "p"},
		}
		if err := w.client.Create(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		p := w.create("secretive", func(p *crawl.Proxy) { p.Spec.AuthSecretRef = &crawl.LocalSecretRef{Name: "auth"} })
		w.eventually("new object", 1, func() int { return w.signals(p) })
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		p.Spec.Port = 4000
		if err := w.client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		w.eventually("edit", 2, func() int { return w.signals(p) })
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		secret.StringData = map[string]string{"password": "q"}
		if err := w.client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		w.eventually("rotation", 3, func() int { return w.signals(p) })
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		secret.Labels = nil
		if err := w.client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		w.eventually("removed label", 4, func() int { return w.signals(p) })
	})
	t.Run("a restart signals only objects with inputs that their status does not speak of", func(t *testing.T) {
		var quiet []*crawl.Proxy
		for i := range 20 {
			p := w.create(fmt.Sprintf("quiet-%d", i))
			w.eventually("new object", 1, func() int { return w.signals(p) })
			w.observe(p, nil)
			quiet = append(quiet, p)
		}
		stop()
		edited := quiet[7]
		edited.Annotations = map[string]string{crawl.AnnotationReplace: "1"}
		if err := w.client.Update(t.Context(), edited); err != nil {
			t.Fatal(err)
		}
		stop = w.run()
		w.eventually("edited object", 2, func() int { return w.signals(edited) })
		marker := w.create("last")
		w.eventually("marker", 1, func() int { return w.signals(marker) })
		for _, p := range quiet {
			if got := w.signals(p); p != edited && got != 1 {
				t.Errorf("%s has %d signals, want 1", p.Name, got)
			}
		}
	})
	stop()
}
