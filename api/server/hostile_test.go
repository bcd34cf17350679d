package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOddRequests: whatever comes, the answer is the JSON of a refusal with the
// right code.
func TestOddRequests(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	s := httptest.NewServer(w.handler)
	defer s.Close()
	asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
	// What is not a strings.Reader has no length, so it goes out in chunks.
	chunked := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text)) }
	deep := strings.Repeat("[", 20000)
	for _, tt := range []struct {
		name         string
		method, path string
		body         io.Reader
		code         int
		word         string
	}{
		{"chunks beyond the limit", "POST", "/v1/leases", chunked(`{"target":"` + strings.Repeat("x", 64<<10) + `"}`), 413, "body_too_large"},
		{"chunks beyond the limit, to renew", "POST", "/v1/leases/none/renew", chunked(strings.Repeat(" ", 1<<17)), 413, "body_too_large"},
		{"no body", "POST", "/v1/leases", nil, 400, "invalid_body"},
		{"no chunks", "POST", "/v1/leases", chunked(""), 400, "invalid_body"},
		{"no chunks, to renew", "POST", "/v1/leases/none/renew", chunked(""), 404, "unknown_lease"},
		{"blank chunks, to renew", "POST", "/v1/leases/none/renew", chunked(" "), 400, "invalid_body"},
		{"no chunks, to report", "POST", "/v1/leases/none/report", chunked(""), 400, "invalid_body"},
		{"depth", "POST", "/v1/leases", strings.NewReader(`{"selector":` + deep + strings.Repeat("]", len(deep)) + `}`), 400, "invalid_body"},
		{"a zero byte behind", "POST", "/v1/leases", strings.NewReader("{}\x00"), 400, "invalid_body"},
		{"a byte order mark", "POST", "/v1/leases", strings.NewReader("\ufeff{}"), 400, "invalid_body"},
		{"a selector given twice", "POST", "/v1/leases", strings.NewReader(`{"selector":{"a":"1","a":"2"}}`), 400, "invalid_body"},
		{"text from right to left", "POST", "/v1/leases", strings.NewReader(`{"target":"` + "\u202e" + `"}`), 400, "invalid_body"},
		{"ttl beyond 64 bits", "POST", "/v1/leases", strings.NewReader(`{"ttlSeconds":9223372036854775808}`), 400, "invalid_body"},
		{"ttl with an exponent", "POST", "/v1/leases", strings.NewReader(`{"ttlSeconds":1e2}`), 400, "invalid_body"},
		{"a result of another type", "POST", "/v1/leases/none/report", strings.NewReader(`{"result":1}`), 400, "invalid_body"},
		{"a huge id", "POST", "/v1/leases/" + strings.Repeat("x", 100000) + "/renew", nil, 404, "unknown_lease"},
		{"an empty id", "POST", "/v1/leases//renew", nil, 404, "unknown_lease"},
		{"an id that is no text", "POST", "/v1/leases/%ff%00/renew", nil, 404, "unknown_lease"},
		{"an id with a slash", "POST", "/v1/leases/a%2Fb/renew", nil, 404, "unknown_lease"},
		{"a proxy with a slash", "GET", "/v1/proxies/crawl/de%2Fmo", nil, 404, "unknown_proxy"},
		{"an encoded slash between", "GET", "/v1/proxies/crawl%2Fdemo", nil, 404, "not_found"},
		{"dots", "GET", "/v1/../v1/proxies", nil, 404, "not_found"},
		{"two slashes", "GET", "//v1/proxies", nil, 404, "not_found"},
		{"a slash behind", "GET", "/v1/proxies/", nil, 404, "not_found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := w.over(s, tt.method, tt.path, tt.body, asJSON)
			message, _ := r.field(t, "message").(string)
			if r.code != tt.code || r.field(t, "error") != tt.word || message == "" || r.header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %.300s; want %d %s", r.code, r.header, r.text, tt.code, tt.word)
			}
		})
	}
	if n := w.active(); n != 0 {
		t.Errorf("%d leases came of odd requests", n)
	}
}

// slowBody notes how much room the first read has, and breaks off.
type slowBody struct{ room int }

func (b *slowBody) Read(p []byte) (int, error) {
	b.room = cap(p)
	return 0, io.ErrUnexpectedEOF
}

func TestABodyThatIsAnnouncedTakesNoMemoryYet(t *testing.T) {
	w := newWorld(t)
	for _, announced := range []int64{1, 4096, 60000, -1} {
		body := &slowBody{}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/leases", body)
		r.ContentLength = announced
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, r)
		if recorder.Code != http.StatusBadRequest || body.room == 0 || body.room > 4<<10 {
			t.Errorf("%d bytes announced: %d, room for %d", announced, recorder.Code, body.room)
		}
	}
}

func TestRenewNeedsNoBodyInWhateverForm(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	s := httptest.NewServer(w.handler)
	defer s.Close()
	id := w.lease(`{}`)
	for name, body := range map[string]io.Reader{"none": nil, "no bytes": strings.NewReader(""), "no chunks": io.MultiReader()} {
		if r := w.over(s, http.MethodPost, "/v1/leases/"+id+"/renew", body); r.code != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.code, r.text)
		}
	}
}

func TestEscapesInThePathMeanTheSame(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	if r := w.do(http.MethodGet, "/v1/proxies/cra%77l/de%6Do", ""); r.code != http.StatusOK {
		t.Errorf("%d %s", r.code, r.text)
	}
	if r := w.do(http.MethodGet, "/v1/proxies/crawl/de%256Do", ""); r.code != http.StatusNotFound {
		t.Errorf("escaped twice: %d %s", r.code, r.text)
	}
	id := w.lease(`{}`)
	escaped := fmt.Sprintf("/v1/leases/%%%02X%s", id[0], id[1:])
	if r := w.do(http.MethodDelete, escaped, ""); r.code != http.StatusNoContent || w.active() != 0 {
		t.Errorf("%s: %d, %d leases left", escaped, r.code, w.active())
	}
}
