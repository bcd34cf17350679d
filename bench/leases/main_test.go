package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func times(all ...time.Duration) (measured []taken) {
	for _, took := range all {
		measured = append(measured, taken{took: took})
	}
	return measured
}

func TestTheLastLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result result
		want   string
	}{
		{
			"all was kept",
			result{kills: 50, failovers: 60, ordered: true, serving: times(time.Second, 900*ms), failover: times(3100 * ms)},
			"50 kills, 60 failovers: 0 leases lost, 0 sessions lost, 0 cooldowns lost, 0 granted twice, linearizable; serving again after 1.0 s at most, failover 3.1 s at most",
		},
		{
			"promises were broken",
			result{kills: 1, counts: map[verdict]int{leaseLost: 1, sessionLost: 2, cooldownLost: 3, grantedTwice: 4, notLinear: 1, broken: 5}},
			"1 kills, 0 failovers: 1 leases lost, 2 sessions lost, 3 cooldowns lost, 4 granted twice, not linearizable, 5 other promises broken",
		},
		{
			"it did not come to its end",
			result{failovers: 2, failover: times(time.Second)},
			"0 kills, 2 failovers: 0 leases lost, 0 sessions lost, 0 cooldowns lost, 0 granted twice, linearizability not known; failover 1.0 s at most",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.result.String(); got != tt.want {
				t.Errorf("the line is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatTookTooLongIsNamed(t *testing.T) {
	r := result{serving: times(time.Second, 3*time.Second), failover: times(4 * time.Second)}
	if got := r.slow(2*time.Second, 5*time.Second); len(got) != 1 || !strings.Contains(got[0], "serving again took longer than 2s 1 times") {
		t.Errorf("named %q", got)
	}
	if got := r.slow(3*time.Second, 5*time.Second); len(got) != 0 {
		t.Errorf("named %q, though all were within", got)
	}
	r.serving[1].stalled = 1500 * ms
	if got := r.slow(2*time.Second, 5*time.Second); len(got) != 0 {
		t.Errorf("named %q, though the machine stood still", got)
	}
}

func TestADistributionSortsItsTimes(t *testing.T) {
	const want = "3 times, least 1.00 s, half within 2.00 s, nine of ten within 2.00 s, most 3.00 s"
	if got := distribution(times(3*time.Second, time.Second, 2*time.Second)); got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestARunThatFailsDoesNotLookLikeOneThatPasses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	code := command(t.Context(), []string{"-kills", "1", "-blows", "0", "-bin-dir", t.TempDir()}, &out)
	const line = "linearizability not known, and the run failed\n"
	if code != 1 || !strings.HasSuffix(out.String(), line) {
		t.Errorf("it ended with %d and printed:\n%s", code, out.String())
	}
}

func TestArgumentsThatAskForNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-kills", "0", "-blows", "0"}, {"-kills", "-1"}, {"7"}} {
		var out bytes.Buffer
		if code := command(t.Context(), args, &out); code != 2 || out.Len() == 0 {
			t.Errorf("%v ended with %d and printed %q", args, code, out.String())
		}
	}
}

func TestEveryRoundHasEveryBlow(t *testing.T) {
	orders := map[string]bool{}
	for round := range 30 {
		seen, order := map[blow]bool{}, ""
		for i := range leaderBlows {
			kind, lasts := nthBlow(7, round*len(leaderBlows)+i)
			if again, _ := nthBlow(7, round*len(leaderBlows)+i); again != kind {
				t.Fatalf("the same seed draws %s and %s", kind, again)
			}
			if lasts < 3*time.Second || lasts > 8*time.Second {
				t.Errorf("a blow lasts %s", lasts)
			}
			seen[kind] = true
			order += string(kind) + " "
		}
		if len(seen) != len(leaderBlows) {
			t.Errorf("round %d has only %s", round, order)
		}
		orders[order] = true
	}
	if len(orders) != 6 {
		t.Errorf("of six orders there are %d", len(orders))
	}
}
