package worker_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/drain"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// leaseAPI answers for a proxy as the api does: by its object, with bans of one address.
type leaseAPI struct {
	world  *world
	banned atomic.Value // host
	bans   atomic.Int32
	asked  atomic.Int32
}

func (a *leaseAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer a.asked.Add(1)
	parts := strings.Split(r.URL.Path, "/") // /v1/proxies/namespace/name
	var p crawl.Proxy
	if err := a.world.live.Get(r.Context(), client.ObjectKey{Namespace: parts[3], Name: parts[4]}, &p); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	said := map[string]any{"phase": p.Status.Phase, "host": p.Status.IP, "port": p.Status.Port, "activeLeases": 0, "bans": 0}
	if p.Status.IP == a.banned.Load() {
		said["bans"] = a.bans.Load()
	}
	_ = json.NewEncoder(w).Encode(said) // to a worker that went away
}

func TestABannedAddressIsReplaced(t *testing.T) {
	w := newWorld(t)
	api := &leaseAPI{world: w}
	server := httptest.NewServer(api)
	defer server.Close()
	w.api = drain.Options{URL: server.URL}
	key := w.create(&crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Name: "banned"}, Spec: crawl.ProxySpec{
		Provider: "local", Replacement: &crawl.Replacement{Bans: &crawl.BanLimit{Count: 3}},
	}})
	w.run()
	status := func() (crawl.ProxyStatus, map[string]string) {
		t.Helper()
		var p crawl.Proxy
		if err := w.live.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, &p); err != nil {
			t.Fatal(err)
		}
		return p.Status, p.Annotations
	}
	tell := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tell(w.signaller.Changed(t.Context(), key))
	eventually.Until(t, "the proxy is up", func() bool { s, _ := status(); return s.IP != "" })
	before, _ := status()
	verdict := wire.Health{Incarnation: before.Current().Incarnation, Healthy: true, Verdict: "healthy", ProbedAt: time.Now()}
	tell(w.signaller.Health(t.Context(), key, verdict))
	eventually.Until(t, "it is Ready", func() bool { s, _ := status(); return s.Phase == crawl.PhaseReady })

	api.banned.Store(before.IP)
	api.bans.Store(2)
	tell(w.signaller.Lease(t.Context(), key))
	eventually.Until(t, "the api is asked", func() bool { return api.asked.Load() == 1 })
	api.bans.Store(3)
	tell(w.signaller.Lease(t.Context(), key))
	eventually.Until(t, "another instance is up", func() bool {
		s, _ := status()
		return s.IP != "" && s.IP != before.IP && s.Current().Incarnation > before.Current().Incarnation
	})
	after, annotations := status()
	want := "bans/1/" + before.IP + " banned: 3 reports within 10m0s"
	if diff := cmp.Diff([]string{want, want}, []string{annotations[crawl.AnnotationReplace], after.ObservedReplace}); diff != "" {
		t.Errorf("asked for and observed (-want +got):\n%s", diff)
	}
	listens := func(s crawl.ProxyStatus) bool {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(s.IP, fmt.Sprint(s.Port)), time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	if listens(before) || !listens(after) {
		t.Errorf("the banned address answers: %v, the other one: %v", listens(before), listens(after))
	}
	eventually.Until(t, "an Event tells", func() bool {
		var events corev1.EventList
		if err := w.live.List(t.Context(), &events, client.InNamespace(key.Namespace)); err != nil {
			t.Fatal(err)
		}
		for _, e := range events.Items {
			if e.Reason == "Banned" && e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, before.IP+" was banned: 3 reports within 10m0s") {
				return true
			}
		}
		return false
	})
}
