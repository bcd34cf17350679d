package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// answers is an API that answers each method and path as it is told, and counts.
type answers struct {
	replies map[string]string // "POST /v1/leases": "201 {...}"

	mu    sync.Mutex
	asked map[string]int
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.Path
	a.mu.Lock()
	a.asked[what]++
	a.mu.Unlock()
	status, body := 0, ""
	if _, err := fmt.Sscanf(a.replies[what], "%d", &status); err != nil {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	if _, rest, ok := strings.Cut(a.replies[what], " "); ok {
		body = rest
	}
	if r.Header.Get("Idempotency-Key") == "used" {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// newTestCrawler is a crawler of such an API.
func newTestCrawler(t *testing.T, replies map[string]string) (*crawler, *answers) {
	t.Helper()
	api := &answers{replies: replies, asked: map[string]int{}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	r := &run{options: options{seed: 1, out: io.Discard}, start: time.Now(), counts: map[string]int{}}
	return r.newPhase("test", []*replica{{url: server.URL}}).crawlers[0], api
}

// hold gives c a lease that it may have for an hour.
func (c *crawler) hold(id, proxy string) *grant {
	g := &grant{span: span{0, 0}, id: id, client: c.name, pair: pair{proxy: proxy}, until: time.Hour, released: never}
	c.held[id] = g
	c.ledger.addGrant(g)
	return g
}

const (
	listPath  = "GET /v1/leases"
	askPath   = "POST /v1/leases"
	renewA    = "POST /v1/leases/a/renew"
	aListed   = `200 {"leases": [{"leaseID": "a", "proxy": {"name": "p"}}]}`
	aRenewed  = `200 {"leaseID": "a", "ttlSeconds": 30}`
	aGone     = `404 {"error": "unknown_lease"}`
	aRunOut   = `410 {"error": "lease_expired"}`
	noneThere = `200 {"leases": []}`
)

func TestAnAuditFindsWhatIsNotAsItWasPromised(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(*crawler)
		replies map[string]string
		want    verdict
	}{
		{"all is there", func(c *crawler) { c.hold("a", "p") }, map[string]string{listPath: aListed, renewA: aRenewed}, ""},
		{"a lease is not listed", func(c *crawler) { c.hold("a", "p") }, map[string]string{listPath: noneThere, renewA: aRenewed}, leaseLost},
		{"a lease is on another proxy", func(c *crawler) { c.hold("a", "q") }, map[string]string{listPath: aListed, renewA: aRenewed}, leaseLost},
		{"a lease is unknown", func(c *crawler) { c.hold("a", "p") }, map[string]string{listPath: aListed, renewA: aGone}, leaseLost},
		{"a lease ran out early", func(c *crawler) { c.hold("a", "p") }, map[string]string{listPath: aListed, renewA: aRunOut}, leaseLost},
		{"a lease ran out in time", func(c *crawler) { c.hold("a", "p").until = 1 }, map[string]string{listPath: aListed, renewA: aRunOut}, ""},
		{"a lease that nobody knows", func(*crawler) {}, map[string]string{listPath: aListed}, grantedTwice},
		{
			"a lease of a request that was not answered", func(c *crawler) { c.limbo = []limbo{{1, never}} },
			map[string]string{listPath: aListed, "DELETE /v1/leases/a": "204"}, "",
		},
		{"a lease whose end was acknowledged", func(c *crawler) { c.drop("a", 0) }, map[string]string{listPath: aListed}, broken},
		{"a lease whose end was not acknowledged", func(c *crawler) { c.drop("a", never) }, map[string]string{listPath: aListed}, ""},
		{
			"a session that has another proxy", func(c *crawler) { c.sessions["s"] = "q" },
			map[string]string{listPath: noneThere, askPath: `201 {"leaseID": "a", "proxy": {"name": "p"}}`}, sessionLost,
		},
		{
			"a session that moved from a proxy that never rested", func(c *crawler) { c.sessions["s"] = "q" },
			map[string]string{listPath: noneThere, askPath: `201 {"leaseID": "a", "proxy": {"name": "p"}, "sessionMoved": "cooldown"}`}, sessionLost,
		},
		{
			"a session that moved from a proxy that may have rested", func(c *crawler) {
				c.sessions["s"] = "q"
				c.ledger.addRest(rest{pair: pair{proxy: "q"}})
			},
			map[string]string{listPath: noneThere, askPath: `201 {"leaseID": "a", "proxy": {"name": "p"}, "sessionMoved": "cooldown"}`}, "",
		},
		{
			"a session whose proxy is full", func(c *crawler) { c.sessions["s"] = "q" },
			map[string]string{listPath: noneThere, askPath: `409 {"error": "no_match"}`}, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, api := newTestCrawler(t, tt.replies)
			tt.prepare(c)
			if got := c.audit(t.Context()); verdictOf(got) != tt.want {
				t.Errorf("found %v, want %q", got, tt.want)
			}
			api.mu.Lock()
			defer api.mu.Unlock()
			for what := range tt.replies {
				if tt.want == "" && api.asked[what] == 0 {
					t.Errorf("%s was not asked", what)
				}
			}
		})
	}
}

func TestARepeatedKeyGetsWhatItHasGot(t *testing.T) {
	const got = `201 {"leaseID": "a", "proxy": {"name": "p"}}`
	for _, tt := range []struct {
		name, key, answer string
		want              verdict
	}{
		{"the same", "used", got, ""},
		{"another lease", "used", `201 {"leaseID": "b", "proxy": {"name": "p"}}`, grantedTwice},
		{"a refusal", "used", `409 {"error": "no_match"}`, broken},
		{"the same, as if for the first time", "new", got, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newTestCrawler(t, map[string]string{askPath: tt.answer})
			c.keys = []usedKey{{key: tt.key, ids: []string{"a"}}}
			if v := c.repeat(t.Context()); verdictOf(v) != tt.want {
				t.Errorf("found %v, want %q", v, tt.want)
			}
		})
	}
}

func TestARequestThatIsNotAnsweredMayHaveBeenGranted(t *testing.T) {
	c, _ := newTestCrawler(t, nil)
	c.sessions["s"] = "p"
	body := acquireBody{Session: "s", Count: 3, TTLSeconds: 10}
	if v := c.acquired(body, "", c.send(t.Context(), acquisition(body, ""))); v != nil {
		t.Fatal(v)
	}
	if len(c.limbo) != 1 || c.limbo[0].leases != 3 || c.limbo[0].until < outage {
		t.Errorf("it may have got %+v, want 3 leases for as long as they may live", c.limbo)
	}
	if _, known := c.sessions["s"]; known {
		t.Error("its session is taken to be where it was")
	}
}

func TestABatchHasAsManyLeasesAsItAskedFor(t *testing.T) {
	const two = `{"leases": [{"leaseID": "a", "proxy": {"name": "p"}}, {"leaseID": "b", "proxy": {"name": "p"}}]}`
	for _, tt := range []struct {
		name           string
		count, atLeast int
		want           verdict
	}{
		{"all", 2, 0, ""},
		{"not all", 3, 0, broken},
		{"enough", 3, 2, ""},
		{"too few", 4, 3, broken},
		{"too many", 1, 1, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newTestCrawler(t, nil)
			body := acquireBody{Count: tt.count, AtLeast: tt.atLeast}
			if v := c.acquired(body, "", answered(span{0, ms}, 201, nil, []byte(two))); verdictOf(v) != tt.want {
				t.Errorf("found %v, want %q", v, tt.want)
			}
		})
	}
}

func TestALeaseCountsFromTheFirstAttempt(t *testing.T) {
	c, _ := newTestCrawler(t, map[string]string{askPath: `201 {"leaseID": "a", "proxy": {"name": "p"}, "trial": true}`})
	body := acquireBody{TTLSeconds: 10, Target: "t"}
	if v := c.acquired(body, "", reply{span: span{time.Second, 3 * time.Second}, status: 201, body: []byte(`{"leaseID": "a", "proxy": {"name": "p"}, "trial": true}`)}); v != nil {
		t.Fatal(v)
	}
	g := c.held["a"]
	if from, to := g.alive(); from != 3*time.Second || to != 11*time.Second || !g.trial || g.pair != (pair{"p", "t"}) {
		t.Errorf("it is held as %s", g)
	}
}
