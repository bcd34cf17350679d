package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// FuzzAcquire: whatever the body, the answer is JSON, no server error, and only a
// 201 takes a slot.
func FuzzAcquire(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"selector":{"region":"eu"},"ttlSeconds":300,"target":"shop.example"}`,
		``, ` `, `null`, `[]`, `"`, `{`, `{}{}`, "\xff", "\x00", `{"selector":null}`, `{"selector":{"":""}}`,
		`{"ttlSeconds":9223372036854775808}`, `{"ttlSeconds":-9223372036854775808}`, `{"ttlSeconds":1e3}`,
		`{"target":"\ud800"}`, `{"target":"` + "\u202e" + `"}`, `{"selector":[{}]}`, `{"a":{"a":{"a":{"a":{}}}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		w := newWorld(t, proxy("demo"))
		w.fuzzed = true
		r := w.do(http.MethodPost, "/v1/leases", body, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
		if !json.Valid([]byte(r.text)) || r.code >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", body, r.code, r.text)
		}
		want := 0
		if r.code == http.StatusCreated {
			want = 1
		}
		if got := w.active(); got != want {
			t.Errorf("%q: %d leases after %d", body, got, r.code)
		}
	})
}
