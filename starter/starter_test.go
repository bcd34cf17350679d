package starter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	temporalclient "go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
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
	// cached is what the starter that was run last sees.
	cached client.Reader
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, client: localtest.Client(t, localtest.ControlPlane(t)), temporal: localtest.TemporalClient(t)}
	w.namespace = localtest.Namespace(t, w.client, "starter")
	return w
}

// run runs a starter until stop is called.
func (w *world) run() (stop func()) {
	w.t.Helper()
	mgr, err := ctrl.NewManager(localtest.ControlPlane(w.t), ctrl.Options{
		Scheme:  w.client.Scheme(),
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
	w.cached = mgr.GetClient()
	ctx, cancel := context.WithCancel(w.t.Context())
	s := &starter.Signaller{Temporal: w.temporal}
	if err := errors.Join(starter.AddProxies(ctx, mgr, s), starter.AddAddons(ctx, mgr, s)); err != nil {
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

// workflowOf is the id of the workflow of o.
func workflowOf(o client.Object) string {
	if p, ok := o.(*crawl.Proxy); ok {
		return wire.ProxyID(ref.Of(p))
	}
	return wire.AddonID(wire.AddonRef{Name: o.GetName(), UID: string(o.GetUID())})
}

// signals counts those that the workflow of o has got; -1 when there is none.
func (w *world) signals(o client.Object) int {
	w.t.Helper()
	events := w.temporal.GetWorkflowHistory(w.t.Context(), workflowOf(o), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
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

// signalled waits until the workflow of o has got so many signals.
func (w *world) signalled(what string, o client.Object, want int) {
	w.t.Helper()
	eventually.Sees(w.t, fmt.Sprintf("%s: %d signals", what, want), time.Minute, func() (bool, string) {
		got := w.signals(o)
		return got == want, strconv.Itoa(got)
	})
}

func TestStarter(t *testing.T) {
	w := newWorld(t)
	stop := w.run()
	t.Run("a new object starts its workflow, and is signalled once while that has not answered", func(t *testing.T) {
		p := w.create("new")
		w.signalled("new object", p, 1)
		p.Labels = map[string]string{"note": "no-input-of-the-workflow"}
		if err := w.client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		marker := w.create("marker") // by the time that this one is seen, the update was seen too
		w.signalled("marker", marker, 1)
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
		// One that it sees after the Proxy is a change of its inputs, and another signal.
		eventually.Until(t, "the starter sees the Secret", func() bool {
			return w.cached.Get(t.Context(), client.ObjectKeyFromObject(secret), starter.SecretMetadata()) == nil
		})
		p := w.create("secretive", func(p *crawl.Proxy) { p.Spec.AuthSecretRef = &crawl.LocalSecretRef{Name: "auth"} })
		w.signalled("new object", p, 1)
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		p.Spec.Port = 4000
		if err := w.client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		w.signalled("edit", p, 2)
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		secret.StringData = map[string]string{"password": "q"}
		if err := w.client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		w.signalled("rotation", p, 3)
		w.observe(p, map[string]string{"auth": secret.ResourceVersion})

		secret.Labels = nil
		if err := w.client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		w.signalled("removed label", p, 4)
	})
	t.Run("a restart signals only objects with inputs that their status does not speak of", func(t *testing.T) {
		var quiet []*crawl.Proxy
		for i := range 20 {
			p := w.create(fmt.Sprintf("quiet-%d", i))
			w.signalled("new object", p, 1)
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
		w.signalled("edited object", edited, 2)
		marker := w.create("last")
		w.signalled("marker", marker, 1)
		for _, p := range quiet {
			if got := w.signals(p); p != edited && got != 1 {
				t.Errorf("%s has %d signals, want 1", p.Name, got)
			}
		}
	})
	stop()
}
