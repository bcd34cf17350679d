package main

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// lent is a lease of a proxy, asked for and granted at times in ms, that lives until a time.
func lent(proxy string, sent, got, until time.Duration) *grant {
	return &grant{
		span: span{sent * ms, got * ms}, id: "lease", client: "c", pair: pair{proxy: proxy, target: "t"},
		until: until * ms, released: never,
	}
}

func (g *grant) releasedAt(at time.Duration) *grant {
	g.released = at * ms
	return g
}

func (g *grant) asExclusive() *grant {
	g.exclusive = true
	return g
}

func (g *grant) asTrial() *grant {
	g.trial = true
	return g
}

func verdictOf(v *violation) verdict {
	if v == nil {
		return ""
	}
	return v.verdict
}

func TestNoProxyHasMoreLeasesAtATimeThanItMay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		grants []*grant
		want   verdict
	}{
		{"two on one that may have two", []*grant{lent("two", 0, 10, 100), lent("two", 0, 20, 100)}, ""},
		{"three on one that may have two", []*grant{lent("two", 0, 10, 100), lent("two", 0, 20, 100), lent("two", 0, 30, 100)}, grantedTwice},
		{"one after the other was released", []*grant{lent("one", 0, 10, 100).releasedAt(20), lent("one", 15, 21, 100)}, ""},
		{"one before the other was released", []*grant{lent("one", 0, 10, 100).releasedAt(30), lent("one", 15, 21, 100)}, grantedTwice},
		{"one after the other ran out", []*grant{lent("one", 0, 10, 100), lent("one", 90, 100, 200)}, ""},
		{"one before the other ran out", []*grant{lent("one", 0, 10, 100), lent("one", 90, 99, 200)}, grantedTwice},
		{"on two proxies", []*grant{lent("one", 0, 10, 100), lent("other", 0, 10, 100)}, ""},
		{"one that was over when its client was told", []*grant{lent("one", 0, 10, 100), lent("one", 0, 60, 50)}, ""},
		{"an exclusive one alone", []*grant{lent("two", 0, 10, 100).asExclusive(), lent("two", 0, 100, 200)}, ""},
		{"an exclusive one beside another", []*grant{lent("two", 0, 10, 100), lent("two", 0, 50, 200).asExclusive()}, grantedTwice},
		{"another beside an exclusive one", []*grant{lent("two", 0, 10, 100).asExclusive(), lent("two", 0, 50, 200)}, grantedTwice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := crowded(tt.grants, map[string]int{"one": 1, "other": 1, "two": 2})
			if verdictOf(got) != tt.want {
				t.Errorf("found %v, want %q", got, tt.want)
			}
		})
	}
}

// aRest is from 100 to 110 ms, and lasts until 200 ms at least.
func aRest() *rest {
	return &rest{span: span{100 * ms, 110 * ms}, pair: pair{"p", "t"}, lasts: 100 * ms, leased: 90 * ms}
}

func aBan() *rest {
	r := aRest()
	r.ban = true
	return r
}

func unanswered100() *rest {
	r := aRest()
	r.got = never
	return r
}

func clearedAt(sent, got time.Duration) []*pardon {
	return []*pardon{{span{sent * ms, got * ms}, pair{"p", "t"}}}
}

func TestNoPairIsLentWhileItRests(t *testing.T) {
	otherTarget := lent("p", 120, 130, 400)
	otherTarget.pair.target = "other"
	olderBan := aBan()
	olderBan.span = span{80 * ms, 95 * ms}
	for _, tt := range []struct {
		name    string
		grants  []*grant
		rests   []*rest
		pardons []*pardon
		want    verdict
	}{
		{"lent before", []*grant{lent("p", 80, 99, 400)}, []*rest{aRest()}, nil, ""},
		{"lent perhaps before", []*grant{lent("p", 105, 130, 400)}, []*rest{aRest()}, nil, ""},
		{"lent within", []*grant{lent("p", 120, 130, 400)}, []*rest{aRest()}, nil, cooldownLost},
		{"lent perhaps after", []*grant{lent("p", 120, 200, 400)}, []*rest{aRest()}, nil, ""},
		{"lent for another target", []*grant{otherTarget}, []*rest{aRest()}, nil, ""},
		{"lent within one that was not acknowledged", []*grant{lent("p", 120, 130, 400)}, []*rest{unanswered100()}, nil, ""},
		{"lent within, after it was cleared", []*grant{lent("p", 120, 130, 400)}, []*rest{aRest()}, clearedAt(115, 118), ""},
		{"lent within, perhaps after it was cleared", []*grant{lent("p", 120, 130, 400)}, []*rest{aRest()}, clearedAt(105, 107), ""},
		{"lent within, cleared before", []*grant{lent("p", 120, 130, 400)}, []*rest{aRest()}, clearedAt(50, 60), cooldownLost},
		{"lent within, cleared after", []*grant{lent("p", 120, 130, 400)}, []*rest{aRest()}, clearedAt(140, 150), cooldownLost},
		{"lent after a ban, for a trial", []*grant{lent("p", 300, 310, 400).asTrial()}, []*rest{aBan()}, nil, ""},
		{"lent after a ban, for no trial", []*grant{lent("p", 300, 310, 400)}, []*rest{aBan()}, nil, cooldownLost},
		{"lent within a ban, for a trial", []*grant{lent("p", 120, 130, 400).asTrial()}, []*rest{aBan()}, nil, cooldownLost},
		{"lent after a ban that a lease reports from before another one", []*grant{lent("p", 300, 310, 400)}, []*rest{olderBan, aBan()}, clearedAt(96, 98), ""},
		{"lent during a trial", []*grant{lent("p", 300, 310, 400).asTrial(), lent("p", 320, 330, 400)}, []*rest{aBan()}, clearedAt(10, 11), cooldownLost},
		{"two trials at a time", []*grant{lent("p", 300, 310, 400).asTrial(), lent("p", 320, 330, 400).asTrial()}, []*rest{aBan()}, nil, cooldownLost},
		{"a trial after another has ended", []*grant{lent("p", 300, 310, 400).asTrial().releasedAt(315), lent("p", 320, 330, 400).asTrial()}, []*rest{aBan()}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := disturbed(tt.grants, tt.rests, tt.pardons)
			if verdictOf(got) != tt.want {
				t.Errorf("found %v, want %q", got, tt.want)
			}
		})
	}
}

func TestACooldownThatMustBeToldIs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rest    *rest
		pardons []*pardon
		within  span
		want    int
	}{
		{"while it lasts", aRest(), nil, span{120 * ms, 130 * ms}, 1},
		{"perhaps before", aRest(), nil, span{105 * ms, 130 * ms}, 0},
		{"perhaps after", aRest(), nil, span{190 * ms, 200 * ms}, 0},
		{"a ban after its time", aBan(), nil, span{290 * ms, 300 * ms}, 1},
		{"once it was cleared", aRest(), clearedAt(115, 118), span{120 * ms, 130 * ms}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger(nil)
			l.rests, l.pardons = []*rest{tt.rest}, tt.pardons
			if got := l.due("p", tt.within); len(got) != tt.want {
				t.Errorf("%d cooldowns are due, want %d", len(got), tt.want)
			}
			if got := l.due("another", tt.within); len(got) != 0 {
				t.Errorf("%d cooldowns of another proxy are due", len(got))
			}
		})
	}
}

func TestALedgerFindsWhatItWasTold(t *testing.T) {
	now := 0 * ms
	l := newLedger(func() time.Duration { return now })
	one, two := lent("one", 0, 10, 100), lent("one", 50, 60, 200)
	l.addGrant(one)
	now = 40 * ms
	l.release(one)
	l.addGrant(two)
	if v := l.check(map[string]int{"one": 1}); v != nil {
		t.Fatalf("found %v of leases that follow each other", v)
	}
	third := lent("one", 150, 160, 170)
	l.addGrant(third)
	l.prolong(two, 150*ms)
	if v := l.check(map[string]int{"one": 1}); verdictOf(v) != grantedTwice {
		t.Errorf("found %v, want %q", v, grantedTwice)
	}
	now = 10 * time.Minute
	l.grants = []*grant{one, two}
	if v := l.check(map[string]int{"one": 1}); v != nil || len(l.grants) != 0 {
		t.Errorf("found %v and kept %d leases that were over long ago", v, len(l.grants))
	}
}
