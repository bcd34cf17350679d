package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// done is an operation on one proxy with its times in ms.
type done struct {
	sent, got time.Duration
	input     input
	output    output
}

func acquired(id string) (input, output)  { return input{"p", deedAcquire, ""}, output{id: id} }
func released(id string) (input, output)  { return input{"p", deedRelease, id}, output{} }
func listedAs(id string) (input, output)  { return input{"p", deedList, ""}, output{id: id} }
func aliveNot(id string) (input, output)  { return input{"p", deedRenew, id}, output{} }
func aliveOnce(id string) (input, output) { return input{"p", deedRenew, id}, output{alive: true} }

func lost(i input, _ output) (input, output) { return i, output{unknown: true} }

func at(sent, got time.Duration) func(input, output) done {
	return func(i input, o output) done {
		if o.unknown {
			return done{sent * ms, never, i, o}
		}
		return done{sent * ms, got * ms, i, o}
	}
}

func TestAnOrderOfTheOperationsIsFoundWhereThereIsOne(t *testing.T) {
	for _, tt := range []struct {
		name string
		ops  []done
		want verdict
	}{
		{"one after the other", []done{at(0, 1)(acquired("a")), at(2, 3)(aliveOnce("a")), at(4, 5)(released("a")), at(6, 7)(acquired("b"))}, ""},
		{"refused while it is held", []done{at(0, 1)(acquired("a")), at(2, 3)(acquired("")), at(4, 5)(released("a"))}, ""},
		{"refused while nobody holds it", []done{at(0, 1)(acquired("a")), at(2, 3)(released("a")), at(4, 5)(acquired(""))}, notLinear},
		{"refused beside the release", []done{at(0, 1)(acquired("a")), at(2, 5)(released("a")), at(4, 6)(acquired(""))}, ""},
		{"granted twice", []done{at(0, 1)(acquired("a")), at(2, 3)(acquired("b"))}, notLinear},
		{"granted twice at the same time", []done{at(0, 3)(acquired("a")), at(1, 2)(acquired("b"))}, notLinear},
		{"a lease that is lost", []done{at(0, 1)(acquired("a")), at(2, 3)(aliveNot("a"))}, notLinear},
		{"a lease that is not listed", []done{at(0, 1)(acquired("a")), at(2, 3)(listedAs(""))}, notLinear},
		{"a lease that comes back", []done{at(0, 1)(acquired("a")), at(2, 3)(released("a")), at(4, 5)(aliveOnce("a"))}, notLinear},
		{"an acquisition whose end is not known and that was done", []done{at(0, 1)(lost(acquired(""))), at(2, 3)(acquired("")), at(4, 5)(listedAs("a")), at(6, 7)(released("a")), at(8, 9)(acquired("b"))}, ""},
		{"one that was not done", []done{at(0, 1)(lost(acquired(""))), at(2, 3)(acquired("b"))}, ""},
		{"one that was done late", []done{at(0, 1)(lost(acquired(""))), at(2, 3)(acquired("b")), at(4, 5)(released("b")), at(6, 7)(listedAs("a"))}, ""},
		{"one that was done twice", []done{at(0, 1)(lost(acquired(""))), at(2, 3)(listedAs("a")), at(4, 5)(released("a")), at(6, 7)(listedAs("b"))}, notLinear},
		{"a release whose end is not known and that was done", []done{at(0, 1)(acquired("a")), at(2, 3)(lost(released("a"))), at(4, 5)(acquired("b"))}, ""},
		{"one that was not", []done{at(0, 1)(acquired("a")), at(2, 3)(lost(released("a"))), at(4, 5)(aliveOnce("a"))}, ""},
		{"one that was done and undone", []done{at(0, 1)(acquired("a")), at(2, 3)(lost(released("a"))), at(4, 5)(listedAs("")), at(6, 7)(aliveOnce("a"))}, notLinear},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newRecord()
			for i, op := range tt.ops {
				h.add(i, op.input, op.output, span{op.sent, op.got})
			}
			n, v := h.check(t.TempDir())
			if verdictOf(v) != tt.want || n != len(tt.ops) {
				t.Errorf("of %d operations found %v, want %q of %d", n, v, tt.want, len(tt.ops))
			}
		})
	}
}

func TestProxiesAreOrderedEachByItself(t *testing.T) {
	h := newRecord()
	for i, proxy := range []string{"a", "b", "a"} {
		h.add(i, input{proxy, deedList, ""}, output{}, span{0, ms})
	}
	parts := partition(h.ops)
	var got []int
	for _, p := range parts {
		got = append(got, len(p))
	}
	if diff := cmp.Diff([]int{2, 1}, got); diff != "" {
		t.Errorf("the parts have other sizes (-want +got):\n%s", diff)
	}
}

func TestAnAnswerIsRecordedAsWhatItSays(t *testing.T) {
	answer := func(status int, body string) reply { return answered(span{0, ms}, status, nil, []byte(body)) }
	const both = `{"leases": [{"leaseID": "a", "proxy": {"name": "p"}}, {"leaseID": "b", "proxy": {"name": "q"}}]}`
	const twice = `{"leases": [{"leaseID": "a", "proxy": {"name": "p"}}, {"leaseID": "b", "proxy": {"name": "p"}}]}`
	for _, tt := range []struct {
		name  string
		deed  deed
		reply reply
		want  output
		wrong verdict
	}{
		{"a grant", deedAcquire, answer(201, `{"leaseID": "a", "proxy": {"name": "p"}}`), output{id: "a"}, ""},
		{"a grant of another proxy", deedAcquire, answer(201, `{"leaseID": "a", "proxy": {"name": "q"}}`), output{}, broken},
		{"a refusal", deedAcquire, answer(409, `{"error": "no_match"}`), output{}, ""},
		{"a refusal of the request", deedAcquire, answer(400, `{"error": "invalid_body"}`), output{}, broken},
		{"a release", deedRelease, answer(204, ``), output{}, ""},
		{"a renewal", deedRenew, answer(200, `{}`), output{alive: true}, ""},
		{"a renewal of nothing", deedRenew, answer(404, `{"error": "unknown_lease"}`), output{}, ""},
		{"a renewal of what ran out though it cannot", deedRenew, answer(410, `{"error": "lease_expired"}`), output{}, broken},
		{"a list", deedList, answer(200, both), output{id: "a"}, ""},
		{"a list with two", deedList, answer(200, twice), output{}, grantedTwice},
		{"no word of what was done", deedAcquire, answer(503, `{"error": "leader_lost"}`), output{unknown: true}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, v := outcome(input{proxy: "p", deed: tt.deed, id: "a"}, tt.reply)
			if verdictOf(v) != tt.wrong || v == nil && got != tt.want {
				t.Errorf("recorded %+v, %v, want %+v, %q", got, v, tt.want, tt.wrong)
			}
		})
	}
}
