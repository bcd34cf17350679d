package lease

import (
	"context"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// scrap is a journal of what a fuzzer thinks of.
type scrap []Change

func (s scrap) Load(_ context.Context, each func(Change) error) error {
	for _, c := range s {
		if err := each(c); err != nil {
			return err
		}
	}
	return nil
}
func (s scrap) Commit(context.Context, []Change) error { return nil }
func (s scrap) Held() error                            { return nil }
func (s scrap) Close() error                           { return nil }

// samples has a change of each kind.
func samples() []Change {
	p := newProxy(Candidate{Key: "crawl/a", UID: "uid-a", Host: "10.0.0.1", Port: 3128, Scheme: "http", Attributes: map[string]string{"region": "eu"}})
	p.bans = []moment{time.Second, time.Minute}
	r := &record{
		id: "l", client: "c", target: "shop", session: "s", key: "k", trial: true, proxy: p.asLent(), ttl: time.Minute,
		granted: 1, expires: time.Minute, reported: []string{"api"}, alarm: alarm{at: time.Minute},
	}
	over := *r
	over.id, over.ended = "over", ErrProxyGone
	b := &budget{second: 3, last: 3 * time.Second}
	return []Change{
		r.change(), over.change(), p.bansChange(),
		(&session{id: sessionID{"c", "s"}, of: p.asLent()}).change(),
		(&cooldown{proxy: p, target: "shop", result: ResultBanned, until: time.Hour, strikes: 2, trial: "l"}).change(),
		(&keyed{client: "c", key: "k", fingerprint: "f", records: []*record{r}}).change(),
		b.change("shop"),
		{Kind: kindTime, Value: make([]byte, 8)},
	}
}

func TestSamplesAreRead(t *testing.T) {
	e, err := Open(t.Context(), scrap(samples()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if n := len(e.Kept()); n != len(samples())-2 { // all but the time and the budget
		t.Errorf("%d things of %d are there", n, len(samples()))
	}
}

// FuzzOpen opens engines on what may be on a disk: they say what is wrong with it, or work.
func FuzzOpen(f *testing.F) {
	for _, c := range samples() {
		f.Add(byte(c.Kind), c.Key, c.Value)
	}
	f.Fuzz(func(t *testing.T, kind byte, key string, value []byte) {
		clock := clocktesting.NewFakeClock(time.Unix(0, 0))
		e, err := Open(t.Context(), scrap{{Kind: Kind(kind), Key: key, Value: value}}, Options{Clock: clock})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "load the leases: read ") {
				t.Errorf("the error does not name what it is about: %v", err)
			}
			return
		}
		defer func() { _ = e.Close() }()
		c := Candidate{Key: "crawl/a", UID: "uid-a", Host: "10.0.0.1", Port: 3128, Scheme: "http", MaxLeases: 3, Healthy: true}
		e.SetBudgets([]Budget{{Target: key, PerProxyPerMinute: 1}})
		e.Sync([]Candidate{c})
		_, _ = e.Acquire(t.Context(), Request{Client: "c", Target: key, TTL: time.Minute, Session: "s"})
		clock.Step(time.Minute)
		_, _ = e.List(t.Context(), func(string) bool { return true })
	})
}
