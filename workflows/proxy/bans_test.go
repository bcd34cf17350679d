package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

// limited proxies are replaced after five bans in ten minutes.
func limited(s *State, c *wire.Claim) {
	c.Bans = &wire.BanLimit{Count: 5, Window: 10 * time.Minute}
	s.Bans = c.Bans
}

// counted is after the api was asked; 0 bans stand for before.
func counted(bans int) func(*State, *wire.Claim) {
	return func(s *State, _ *wire.Claim) { s.Suspicion = &Suspicion{Counted: bans} }
}

// asked is a wish that is on the object, seen one that the instance answers to.
func asked(value string) func(*State, *wire.Claim) {
	return func(_ *State, c *wire.Claim) { c.Replace, c.Inputs = value, value }
}

func seen(value string) func(*State, *wire.Claim) {
	return func(s *State, c *wire.Claim) { c.Replace, s.ReplaceSeen = value, value }
}

func leavingBy(exit string) func(*State, *wire.Claim) {
	return func(s *State, _ *wire.Claim) { s.Health.ExitIP = exit }
}

const (
	firstBan  = "bans/1/127.64.0.1 banned: 5 reports within 10m0s"
	secondBan = "bans/2/127.64.0.1 banned: 5 reports within 10m0s"
	lastBan   = "bans/3/127.64.0.1 banned: 5 reports within 10m0s"
	otherBan  = "bans/1/127.64.0.9 banned: 5 reports within 10m0s"
)

func TestBans(t *testing.T) {
	up := func() *world { return aProxy().draining().having(wire.StateRunning).healthy(true).with(limited) }
	unlimited := func(s *State, c *wire.Claim) { c.Bans, s.Bans = nil, nil }
	paused := func(_ *State, c *wire.Claim) { c.Paused = true }
	of3 := func(s *State, _ *wire.Claim) { s.Version = 3 }
	theirs := func() *world {
		w := external().with(limited).healthy(true)
		w.state.Health.Incarnation = 0
		return w.published()
	}
	elsewhere := func(s *State, c *wire.Claim) {
		c.Endpoint, c.Inputs = &wire.Endpoint{Host: "10.0.0.10", Port: 8080}, "in2"
	}
	tests := []struct {
		name          string
		in            *world
		want          StepKind
		phase, reason string // of a step Publish
		value         string // of a step Condemn
	}{
		{name: "without a hint nobody is asked", in: up().published(), want: Park},
		{name: "after a hint the api is asked", in: up().published().with(counted(0)), want: Count},
		{name: "an unhealthy proxy may be banned, too", in: up().healthy(false).published().with(counted(0)), want: Count},
		{name: "one that cannot be judged is asked about later", in: up().published().with(counted(0)).with(func(s *State, _ *wire.Claim) { s.Ledger[0].Seen.State = wire.StateUnknown }).published(), want: Settle},
		{name: "fewer bans than the limit, after an edit of it", in: up().published().with(counted(4)), want: Count},
		{name: "as many are written on the object", in: up().published().with(counted(5)), want: Condemn, value: firstBan},
		{name: "by the exit address, where that is known", in: up().with(leavingBy("203.0.113.7")).published().with(counted(5)), want: Condemn, value: "bans/1/203.0.113.7 banned: 5 reports within 10m0s"},
		{name: "which drains a healthy proxy", in: up().published().with(asked(firstBan)), want: Publish, phase: wire.PhaseDraining, reason: wire.ReasonBanned},
		{name: "its leases are waited for", in: up().with(asked(firstBan)).published(), want: Drain},
		{name: "before it goes", in: up().with(asked(firstBan)).published().with(waited(time.Minute, true)), want: Publish, phase: wire.PhaseReplacing, reason: wire.ReasonBanned},
		{name: "an unhealthy one goes at once", in: up().healthy(false).with(asked(firstBan)).published(), want: Delete},
		{name: "the reason stays while it goes", in: up().healthy(false).with(asked(firstBan)).published().with(func(s *State, _ *wire.Claim) { s.Ledger[0].Deleting = true }), want: Vanish},
		{name: "an edit of the spec is the reason, if that came too", in: up().with(asked(firstBan)).with(edited), want: Publish, phase: wire.PhaseDraining, reason: wire.ReasonDraining},
		{name: "another address is the answer", in: up().with(seen(otherBan)), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonCreated},
		{name: "the same address is replaced again", in: aProxy().having(wire.StateRunning).with(limited).with(seen(firstBan)), want: Condemn, value: secondBan},
		{name: "and again", in: aProxy().having(wire.StateRunning).with(limited).with(seen(secondBan)), want: Condemn, value: lastBan},
		{name: "then it stays", in: aProxy().having(wire.StateRunning).with(limited).with(seen(lastBan)), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonSameAddress},
		{name: "and serves", in: up().with(seen(lastBan)), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonSameAddress},
		{name: "in peace", in: up().with(seen(lastBan)).published(), want: Park},
		{name: "until somebody asks", in: up().healthy(false).with(seen(lastBan)).with(asked("now")).published(), want: Delete},
		{name: "the same exit behind another address is the same", in: up().with(leavingBy("127.64.0.9")).with(seen(otherBan)), want: Condemn, value: strings.Replace(otherBan, "/1/", "/2/", 1)},
		{name: "without the limit the same address is good enough", in: up().with(seen(firstBan)).with(unlimited).published(), want: Park},
		{name: "a wish of somebody else says nothing of an address", in: up().with(seen("bans/many")).published(), want: Park},
		{name: "a paused proxy waits", in: up().with(paused).published().with(counted(0)), want: Park},
		{name: "and is not replaced", in: up().with(paused).with(counted(5)).with(asked(firstBan)).published(), want: Park},
		{name: "a deletion comes first", in: up().with(counted(0)).with(beingDeleted).published(), want: Delete},
		{name: "an edit comes first", in: up().healthy(false).with(counted(0)).with(edited).published(), want: Delete},
		{name: "a look comes first", in: up().published().with(counted(0)).with(func(s *State, _ *wire.Claim) { s.Look = true }), want: Get},
		{name: "a former run does not ask", in: up().published().with(counted(0)).with(of3), want: Park},
		{name: "nor does it know the same address", in: up().with(seen(firstBan)).with(of3).published(), want: Park},
		{name: "an External proxy is asked about", in: theirs().with(counted(0)), want: Count},
		{name: "its bans are told", in: theirs().with(counted(5)), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonBanned},
		{name: "once", in: theirs().with(counted(5)).published().with(counted(0)), want: Park},
		{name: "for each endpoint", in: theirs().with(counted(5)).published().with(elsewhere).claimed(), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonExternal},
		{name: "and not without the limit", in: theirs().with(counted(5)).published().with(unlimited), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonExternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Next(tt.in.state, tt.in.claim, now)
			if got.Kind != tt.want || got.Status.Phase != tt.phase || got.Value != tt.value {
				t.Fatalf("step = %s %s %q, want %s %s %q\n%+v", got.Kind, got.Status.Phase, got.Value, tt.want, tt.phase, tt.value, got)
			}
			if c := condition(got.Status.Conditions, wire.ConditionProvisioned); c != nil && c.Reason != tt.reason {
				t.Errorf("reason %s, want %s", c.Reason, tt.reason)
			}
		})
	}
}

// TestBansAreTold states what people read, and whether the proxy is lent.
func TestBansAreTold(t *testing.T) {
	up := func() *world { return aProxy().draining().having(wire.StateRunning).healthy(true).with(limited) }
	theirs := func() *world {
		w := external().with(limited).healthy(true)
		w.state.Health.Incarnation = 0
		return w.published().with(counted(7))
	}
	theirsDead := func(s *State, _ *wire.Claim) { s.Health.Healthy, s.Health.Verdict = false, "dead" }
	const banned = "127.64.0.1 was banned: 5 reports within 10m0s"
	for name, tt := range map[string]struct {
		in *world
		// Ready, its reason and message
		want []string
	}{
		"while it drains":    {up().with(asked(firstBan)), []string{"False", "Banned", banned}},
		"while it goes":      {up().healthy(false).with(asked(firstBan)), []string{"False", "Banned", banned}},
		"the second time":    {up().with(asked(secondBan)), []string{"False", "Banned", "the provider gave 127.64.0.1 again, banned: 5 reports within 10m0s"}},
		"when it stays":      {up().with(seen(lastBan)), []string{"True", "SameAddress", "the provider gives the same address again: 127.64.0.1, banned: 5 reports within 10m0s; it was replaced 3 times, a new value of annotation crawl.example.com/replace tries again"}},
		"unless it is dead":  {up().healthy(false).with(seen(lastBan)), []string{"False", "Dead", ""}},
		"an External one":    {theirs(), []string{"True", "Banned", "10.0.0.9:8080 was banned: 7 reports within 10m0s, at 2026-03-01 12:00 UTC; only who runs it can give it another address"}},
		"or that is dead":    {theirs().published().with(theirsDead), []string{"False", "Dead", ""}},
		"and when it is not": {theirs().published(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			step := Next(tt.in.state, tt.in.claim, now)
			var got []string
			if c := condition(step.Status.Conditions, wire.ConditionReady); c != nil {
				got = []string{c.Status, c.Reason, c.Message}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Ready, its reason and message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHintsOfTheAPI(t *testing.T) {
	up := func() *world { return aProxy().draining().having(wire.StateRunning).healthy(true) }
	for name, tt := range map[string]struct {
		in    *world
		wakes bool
		want  *Suspicion
	}{
		"without a limit nothing follows":        {in: up().published()},
		"with one there is a suspicion":          {in: up().with(limited).published(), wakes: true, want: &Suspicion{}},
		"one is enough":                          {in: up().with(limited).published().with(counted(0)), want: &Suspicion{Again: true}},
		"a draining proxy is looked at":          {in: up().with(edited).published(), wakes: true},
		"one whose limit has been reached, too":  {in: up().with(limited).with(asked(firstBan)).published(), wakes: true},
		"one that is being replaced by then not": {in: up().with(limited).healthy(false).with(asked(firstBan)).published()},
		"one whose address stays the same not":   {in: up().with(limited).with(seen(lastBan)).published()},
		"an External one that was told not":      {in: external().with(limited).published().with(counted(5)).published().with(func(s *State, _ *wire.Claim) { s.Suspicion = nil })},
		"a former run looks":                     {in: up().published().with(func(s *State, _ *wire.Claim) { s.Version = 3 }), wakes: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.in.state.heedLease(); got != tt.wakes {
				t.Errorf("wakes %v, want %v", got, tt.wakes)
			}
			if diff := cmp.Diff(tt.want, tt.in.state.Suspicion); diff != "" {
				t.Errorf("suspicion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASuspicionEnds(t *testing.T) {
	suspected := func() *world { return aProxy().having(wire.StateRunning).with(limited).with(counted(5)).published() }
	w := suspected()
	w.claimed()
	if diff := cmp.Diff(&Suspicion{}, w.state.Suspicion); diff != "" {
		t.Errorf("with another claim (-want +got):\n%s", diff)
	}
	w = suspected().with(func(_ *State, c *wire.Claim) { c.Bans = nil })
	if w.claimed(); w.state.Suspicion != nil {
		t.Errorf("without the limit: %+v", w.state.Suspicion)
	}
	w = suspected().gone(0)
	w.state.enter(Next(w.state, w.claim, now).Entry, w.claim)
	if w.state.Suspicion != nil {
		t.Errorf("with another instance: %+v", w.state.Suspicion)
	}
}

// TestATerminatedWorkflowGoesOnReplacingABannedAddress: all that it knew is on the object.
func TestATerminatedWorkflowGoesOnReplacingABannedAddress(t *testing.T) {
	restarted := func(w *world) Step {
		claim := w.claim
		claim.Stored = w.state.Stored
		s := State{Version: Version}
		s.merge(claim, now)
		s.Ledger[0].see(wire.Instance{State: wire.StateRunning, ProviderID: "id", Host: "127.64.0.1", Port: 3128})
		return Next(s, claim, now)
	}
	up := func() *world { return aProxy().draining().having(wire.StateRunning).healthy(true).with(limited) }
	if got := restarted(up().with(asked(firstBan)).published()); got.Kind != Drain {
		t.Errorf("step = %+v, want to go on draining", got)
	}
	answered := up().published().with(seen(secondBan))
	answered.state.Stored.ObservedReplace = secondBan
	if got := restarted(answered); got.Kind != Condemn || got.Value != lastBan {
		t.Errorf("step = %+v, want the last try", got)
	}
	if got := restarted(up().with(seen(lastBan)).published()); got.Kind != Park {
		t.Errorf("step = %+v, want no more tries", got)
	}
	told := external().with(limited).published().with(counted(7)).published()
	told.claim.Stored = told.state.Stored
	s := State{Version: Version}
	s.merge(told.claim, now)
	if got := Next(s, told.claim, now.Add(time.Hour)); got.Kind != Park || s.heedLease() {
		t.Errorf("step = %+v of an External proxy whose bans were told, want nothing", got)
	}
}
