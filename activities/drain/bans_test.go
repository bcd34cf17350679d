package drain

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/temporal/wire"
)

func TestCountBans(t *testing.T) {
	in := wire.BansInput{Proxy: demo.Proxy, Address: wire.Endpoint{Host: "10.0.0.1", Port: 3128}}
	tests := []struct {
		name  string
		code  int
		body  string
		bans  int
		after time.Duration
		says  string
	}{
		{name: "the address was banned", code: 200, body: `{"phase":"Ready","host":"10.0.0.1","port":3128,"activeLeases":2,"bans":7}`, bans: 7},
		{name: "it was not", code: 200, body: `{"host":"10.0.0.1","port":3128,"activeLeases":0,"bans":0}`},
		{name: "bans of another host are none", code: 200, body: `{"host":"10.0.0.2","port":3128,"activeLeases":0,"bans":7}`, after: lookEvery, says: "at 10.0.0.2:3128, not yet at 10.0.0.1:3128"},
		{name: "nor are those of another port", code: 200, body: `{"host":"10.0.0.1","port":3129,"activeLeases":0,"bans":7}`, after: lookEvery, says: "at 10.0.0.1:3129, not yet at 10.0.0.1:3128"},
		{name: "an unknown proxy has none", code: 404, body: `{"error":"unknown_proxy"}`},
		{name: "an api that counts no bans proves nothing", code: 200, body: `{"host":"10.0.0.1","port":3128,"activeLeases":0}`, after: lookEvery, says: "older than this worker"},
		{name: "nor does something else", code: 200, body: `{"bans":7}`, after: lookEvery, says: "--api-url is no api"},
		{name: "nor an api without a leader", code: 503, body: `{"error":"no_leader"}`, after: lookEvery, says: "503 no_leader"},
		{name: "the token is not known", code: 401, body: `{"error":"unauthorized"}`, after: lookEvery, says: "--api-token-file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/v1/proxies/crawl/demo" {
					t.Errorf("asked with %s for %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer api.Close()
			got, err := New(Options{URL: api.URL}).CountBans(t.Context(), in)
			var notYet *outcome.NotYet
			switch {
			case errors.As(err, &notYet):
				if notYet.After != tt.after || !strings.Contains(notYet.What, tt.says) {
					t.Errorf("again after %s, %q; want %s, %q", notYet.After, notYet.What, tt.after, tt.says)
				}
			case err != nil:
				t.Errorf("error = %v, want one that is no failure", err)
			case tt.after != 0 || got.Count != tt.bans:
				t.Errorf("bans = %d, want %d, or to be asked again after %s", got.Count, tt.bans, tt.after)
			}
		})
	}
}
