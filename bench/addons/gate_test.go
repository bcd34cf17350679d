package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server is an API server that writes down what it is asked.
type server struct {
	mu    sync.Mutex
	asked []string
}

func (s *server) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
}

// opened is a gate before a server, with a count of its kills.
func opened(t *testing.T, b blow) (g *gate, s *server, at string, kills *int) {
	t.Helper()
	s, kills = &server{}, new(int)
	behind := httptest.NewServer(s)
	t.Cleanup(behind.Close)
	target, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Unix(0, 0)
	g = &gate{slot: "slot-03", to: http.DefaultTransport, kill: func() { *kills++ }, now: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}}
	g.arm(b)
	front := httptest.NewServer(g.handler(target))
	t.Cleanup(front.Close)
	return g, s, front.URL, kills
}

func send(t *testing.T, method, at string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, reply.Body)
	_ = reply.Body.Close()
	return reply.StatusCode
}

func TestABlowFallsAtItsWrite(t *testing.T) {
	const first, second, third = "/api/v1/namespaces/a/configmaps/x", "/api/v1/namespaces/a/secrets", "/apis/apps/v1/namespaces/a/deployments/y/status"
	for _, tt := range []struct {
		name   string
		blow   blow
		hears  bool
		struck string
		back   time.Duration
	}{
		{"before the API server hears of it", blow{2, false}, false, "create secrets", time.Second},
		{"after the API server has done it", blow{2, true}, true, "create secrets", time.Second},
		{"at the last one", blow{3, true}, true, "patch deployments/status", 0},
		{"at none", blow{}, true, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, s, at, kills := opened(t, tt.blow)
			send(t, http.MethodDelete, at+first)
			send(t, http.MethodGet, at+second)
			send(t, http.MethodPatch, at+first+"?dryRun=All")
			answer := send(t, http.MethodPost, at+second)
			send(t, http.MethodPatch, at+third)
			want := taken{writes: []string{"delete configmaps", "create secrets", "patch deployments/status"}, struck: tt.struck, back: tt.back}
			if diff := cmp.Diff(want, g.taken(), cmp.AllowUnexported(taken{})); diff != "" {
				t.Error(diff)
			}
			if heard := strings.Contains(strings.Join(s.asked, "\n"), "POST "+second); heard != tt.hears {
				t.Errorf("the API server was asked %q", s.asked)
			}
			if lost := answer == http.StatusBadGateway; lost != (tt.blow.step == 2) {
				t.Errorf("the answer is %d", answer)
			}
			if want := min(len(tt.struck), 1); *kills != want {
				t.Errorf("%d kills, want %d", *kills, want)
			}
		})
	}
}

func TestASlotSeesItsOwnAddons(t *testing.T) {
	_, s, at, _ := opened(t, blow{})
	const list = "/apis/rendimiento.ai/v1alpha1/addons"
	send(t, http.MethodGet, at+list+"?watch=true")
	send(t, http.MethodGet, at+list+"/one")
	send(t, http.MethodGet, at+"/api/v1/secrets")
	want := []string{"GET " + list + "?labelSelector=chaos.example.com%2Fslot%3Dslot-03&watch=true", "GET " + list + "/one", "GET /api/v1/secrets"}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsAWrite(t *testing.T) {
	for _, tt := range []struct{ method, at, want string }{
		{http.MethodGet, "/api/v1/namespaces/a/secrets/b", ""},
		{http.MethodPatch, "/api/v1/namespaces/a", "patch namespaces"},
		{http.MethodPatch, "/apis/rendimiento.ai/v1alpha1/addons/a/status?fieldManager=x", "patch addons/status"},
		{http.MethodPut, "/apis/batch/v1/namespaces/a/jobs/b", "update jobs"},
		{http.MethodPatch, "/apis/apps/v1/namespaces/a/deployments/b?dryRun=All", ""},
		{http.MethodPost, "/api/v1/namespaces/default/events", ""},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", ""},
	} {
		if got := writeOf(httptest.NewRequest(tt.method, tt.at, nil)); got != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.method, tt.at, got, tt.want)
		}
	}
}
