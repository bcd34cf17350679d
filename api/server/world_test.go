package server_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/api/server"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an API over a cache that the fake client stands in for.
type world struct {
	t       testing.TB
	cluster client.Client
	clock   *clocktesting.FakeClock
	log     *desktest.Log
	place   *desktest.Place
	stop    func()
	options server.Options
	handler *server.API
	events  *events
	// fuzzed: what is asked is nothing that the document should allow.
	fuzzed bool
}

func newWorld(t testing.TB, objects ...client.Object) *world {
	t.Helper()
	w := newIdleWorld(t, objects...)
	w.stop = desktest.Run(t, w.options.Desk)
	return w
}

// newIdleWorld is one whose desk does not run yet.
func newIdleWorld(t testing.TB, objects ...client.Object) *world {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: clocktesting.NewFakeClock(start), log: &desktest.Log{}, place: desktest.NewPlace()}
	w.cluster = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&crawl.Proxy{}).Build()
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.options = server.Options{
		Desk: desk.New(desk.Options{
			Place: w.place, Log: log, Engine: lease.Options{Clock: w.clock, Jitter: func() float64 { return 0 }},
			Notify: func(ctx context.Context, n lease.Notice) error { return w.handler.Notify(ctx, n) },
		}),
		Secrets: w.cluster, Objects: w.cluster, Workflows: &told{}, Log: log, Clock: w.clock,
	}
	w.build()
	return w
}

// build makes the handler anew, after a change of options.
func (w *world) build() {
	w.t.Helper()
	w.options.Metrics = prometheus.NewRegistry()
	h, err := server.New(w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.handler, w.events = h, &events{cluster: w.cluster}
	if err := h.Watch(w.t.Context(), w.events); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) logs(text string) bool { return strings.Contains(w.log.String(), text) }

func (w *world) pass(d time.Duration) { w.clock.Step(d) }

func (w *world) engine() *lease.Engine {
	w.t.Helper()
	e, err := w.options.Desk.Engine()
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// counts are the active leases by the proxy's UID.
func (w *world) counts() map[string]int {
	w.t.Helper()
	counts, err := w.engine().Counts(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return counts
}

// active is how many leases there are.
func (w *world) active() int {
	active, _ := w.engine().Totals()
	return active
}

// reply is what came back.
type reply struct {
	code   int
	header http.Header
	text   string
}

func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.text), v); err != nil {
		t.Fatalf("%d %q: %v", r.code, r.text, err)
	}
}

// field returns a field of the JSON object that came back.
func (r reply) field(t testing.TB, name string) any {
	t.Helper()
	var v map[string]any
	r.into(t, &v)
	return v[name]
}

// do makes a request; edits may change it.
func (w *world) do(method, path, body string, edits ...func(*http.Request)) reply {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, edit := range edits {
		edit(r)
	}
	recorder := httptest.NewRecorder()
	asked := r.Clone(w.t.Context())
	w.handler.ServeHTTP(recorder, r)
	answer := recorder.Result()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got := reply{answer.StatusCode, answer.Header, string(text)}
	if !w.fuzzed {
		asDocumented(w.t, asked, body, got)
	}
	return got
}

func bearing(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// lease acquires a lease and returns its id.
func (w *world) lease(body string, edits ...func(*http.Request)) string {
	w.t.Helper()
	r := w.do(http.MethodPost, "/v1/leases", body, edits...)
	if r.code != http.StatusCreated {
		w.t.Fatalf("acquire: %d %s", r.code, r.text)
	}
	id, ok := r.field(w.t, "leaseID").(string)
	if !ok || id == "" {
		w.t.Fatalf("acquire: no leaseID in %s", r.text)
	}
	return id
}

func proxy(name string, edits ...func(*crawl.Proxy)) *crawl.Proxy {
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawl", Name: name, UID: types.UID("uid-" + name)},
		Spec: crawl.ProxySpec{
			Mode: crawl.ModeManaged, Provider: "local", MaxLeases: 2, Attributes: map[string]string{"region": "eu"},
		},
		Status: crawl.ProxyStatus{
			Phase: crawl.PhaseReady, IP: "127.64.0.1", Port: 3128, LatencyMillis: 7, ExitIP: "127.64.0.1",
			Conditions: []metav1.Condition{
				{Type: crawl.ConditionHealthy, Status: metav1.ConditionTrue, Reason: "Healthy"},
				{Type: crawl.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"},
			},
		},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func region(r string) func(*crawl.Proxy) {
	return func(p *crawl.Proxy) { p.Spec.Attributes = map[string]string{"region": r} }
}

func unhealthy(p *crawl.Proxy) {
	p.Status.Phase = crawl.PhaseUnhealthy
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].Status, p.Status.Conditions[i].Reason = metav1.ConditionFalse, "Dead"
	}
}

// storedVersion is the resourceVersion of what a world begins with.
const storedVersion = "999"

func secured(p *crawl.Proxy) { lockedBy("proxy-auth")(p) }

func authSecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawl", Name: "proxy-auth", Labels: map[string]string{crawl.LabelCloudInit: "true"}},
		Data:       map[string][]byte{"username": []byte("robot"), "password": []byte("c4nary")},
	}
}

// edit changes the stored proxy, its status included, and the cache with it.
func (w *world) edit(name string, change func(*crawl.Proxy)) {
	w.t.Helper()
	p := w.stored(name)
	change(p)
	if err := w.cluster.Status().Update(context.Background(), p); err != nil {
		w.t.Fatal(err)
	}
	w.events.handler.OnUpdate(nil, w.stored(name))
}

func (w *world) stored(name string) *crawl.Proxy {
	w.t.Helper()
	var p crawl.Proxy
	if err := w.cluster.Get(context.Background(), client.ObjectKey{Namespace: "crawl", Name: name}, &p); err != nil {
		w.t.Fatal(err)
	}
	return &p
}
