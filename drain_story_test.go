package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

// TestReplacementWaitsForLeases asks for a new instance while the old one is lent.
func TestReplacementWaitsForLeases(t *testing.T) {
	s := newStack(t)
	s.start()
	s.kubectl("apply", "-f", "deploy/examples/proxy-process.yaml")
	s.kubectl("wait", "--for=condition=Ready", "proxy/demo", "--timeout=60s")
	get := func() *crawl.Proxy {
		t.Helper()
		var p crawl.Proxy
		if err := s.client().Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "demo"}, &p); err != nil {
			t.Fatal(err)
		}
		return &p
	}
	old := get().Status.Current().Incarnation
	replaced := func(p *crawl.Proxy, by string) (bool, string) {
		now := p.Status.Current()
		ok := p.Status.Phase == crawl.PhaseReady && now.Incarnation != old && p.Status.ObservedReplace == by
		return ok, fmt.Sprintf("%+v", p.Status)
	}
	ask := func(reason string) (value string) {
		t.Helper()
		var asked struct{ WorkflowID, Replace string }
		if code := s.call(http.MethodPost, "/v1/proxies/default/demo/replace", `{"reason":"`+reason+`"}`, &asked); code != http.StatusAccepted {
			t.Fatalf("replace answered %d: %+v", code, asked)
		}
		if want := "proxy/default/demo/" + string(get().UID); asked.WorkflowID != want {
			t.Errorf("workflow %s, want %s", asked.WorkflowID, want)
		}
		return asked.Replace
	}
	var lent struct{ LeaseID string }
	s.call(http.MethodPost, "/v1/leases", `{"ttlSeconds":300}`, &lent)

	value := ask("banned by shop.example")
	eventually.Sees(t, "Draining", 20*time.Second, func() (bool, string) {
		p := get()
		return p.Status.Phase == crawl.PhaseDraining, fmt.Sprintf("%+v", p.Status)
	})
	if code := s.call(http.MethodPost, "/v1/leases", `{}`, nil); code != http.StatusConflict {
		t.Errorf("a draining proxy was lent: %d", code)
	}
	if n := get().Status.Current().Incarnation; n != old {
		t.Error("the instance was replaced under its lease")
	}
	s.call(http.MethodDelete, "/v1/leases/"+lent.LeaseID, "", nil)
	// Well before the worker's next look: the api tells it.
	eventually.Sees(t, "the replacement", 12*time.Second, func() (bool, string) { return replaced(get(), value) })

	old = get().Status.Current().Incarnation
	value = ask("")
	eventually.Sees(t, "the replacement of one that nobody leased", 12*time.Second, func() (bool, string) { return replaced(get(), value) })

	t.Run("kubectl tells the story", func(t *testing.T) {
		s.t = t
		described, listed := s.kubectl("describe", "proxy", "demo"), s.kubectl("get", "events", "-o", "wide")
		for _, word := range []string{"Created", "Healthy", "Draining", "Replacing"} {
			if !strings.Contains(described, word+" ") || !strings.Contains(listed, word+" ") {
				t.Errorf("no Event %s in\n%s\n%s", word, described, listed)
			}
		}
		if !strings.Contains(described, " fairlead ") || !strings.Contains(listed, "proxy/demo") {
			t.Errorf("the Events are not fairlead's about the Proxy:\n%s\n%s", described, listed)
		}
	})
	s.t = t
}

func TestDialled(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8090": "127.0.0.1:8090", "api.example:80": "api.example:80", ":8090": "localhost:8090",
		"0.0.0.0:8090": "localhost:8090", "[::]:8090": "localhost:8090", "nonsense": "nonsense",
	} {
		if got := dialled(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
