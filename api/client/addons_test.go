package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

// answering is a client of an API that gives one answer, and counts what it was asked.
func answering(t *testing.T, answer http.HandlerFunc) (*client.Client, *atomic.Int32) {
	t.Helper()
	asked := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(client.Options{URL: s.URL, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func TestRefusalsOfAddonsCanBeAskedFor(t *testing.T) {
	for code, want := range map[string]error{"unknown_addon": client.ErrUnknownAddon, "no_plan": client.ErrNoPlan, "other_plan": client.ErrOtherPlan} {
		c, _ := answering(t, func(w http.ResponseWriter, _ *http.Request) { clienttest.Refuse(w, http.StatusConflict, code, "why") })
		if _, err := c.Sync(t.Context(), "demo", "hash"); !errors.Is(err, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestAnAPIWithoutAddonsIsAskedOnce(t *testing.T) {
	c, asked := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		clienttest.Refuse(w, http.StatusServiceUnavailable, "no_addons", "it was started without them")
	})
	if _, err := c.Addons(t.Context()); err == nil || asked.Load() != 1 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestASyncIsAskedForAgainWithTheSamePlan(t *testing.T) {
	var first atomic.Bool
	c, asked := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if first.CompareAndSwap(false, true) {
			clienttest.Refuse(w, http.StatusServiceUnavailable, "unavailable", "a moment")
			return
		}
		_, _ = w.Write([]byte(`{"plan":"hash","generation":7,"workflowID":"addon/demo/uid"}`))
	})
	got, err := c.Sync(t.Context(), "demo", "hash")
	if diff := cmp.Diff(client.Approval{Plan: "hash", Generation: 7, WorkflowID: "addon/demo/uid"}, got); diff != "" || err != nil || asked.Load() != 2 {
		t.Errorf("asked %d times: %v\n(-want +got):\n%s", asked.Load(), err, diff)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	var asked string
	c, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
		_, _ = w.Write([]byte(`{}`))
	})
	if _, err := c.DeleteAddon(t.Context(), "../a b?uninstall=true&", false); err != nil || asked != "DELETE /v1/addons/..%2Fa%20b%3Funinstall=true&?uninstall=false" {
		t.Errorf("asked %q: %v", asked, err)
	}
}
