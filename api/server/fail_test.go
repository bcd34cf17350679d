package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/fairlead/api/lease"
)

func TestAQuotaThatAllShareIsNotRaised(t *testing.T) {
	err := &lease.QuotaError{What: "selectors that requests wait for", Limit: 7, Shared: true}
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, leasesPath, http.NoBody)
	if !refuseNow(w, r, err) || w.Code != http.StatusTooManyRequests {
		t.Fatalf("%d", w.Code)
	}
	want := "the clients have 7 selectors that requests wait for, which is all they may have together: ask again in a moment, or for another selector"
	if !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "tokens file") {
		t.Errorf("it says %s, want %q", w.Body, want)
	}
}

func TestAQuotaErrorNamesItsRemedy(t *testing.T) {
	for what, want := range map[string]string{
		"leases":           "quota.leases in the tokens file",
		"waiting requests": "quota.waiting in the tokens file",
		"sessions":         "--session-idle",
	} {
		t.Run(what, func(t *testing.T) {
			w := httptest.NewRecorder()
			ctx := context.WithValue(t.Context(), callKey{}, &call{caller: caller{name: "crawler-1"}})
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, leasesPath, http.NoBody)
			if !refuseNow(w, r, &lease.QuotaError{What: what, Limit: 7}) || w.Code != http.StatusTooManyRequests {
				t.Fatalf("%d", w.Code)
			}
			if named := "client crawler-1 has 7 " + what; !strings.Contains(w.Body.String(), named) {
				t.Errorf("it says %s, want %q", w.Body, named)
			}
			if !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "tokens") != strings.Contains(want, "tokens") {
				t.Errorf("it says %s, want the remedy %q", w.Body, want)
			}
		})
	}
}
