package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// result is what a run has come to.
type result struct {
	kills, failovers int
	// counts are of broken promises.
	counts map[verdict]int
	// ordered is set once an order of all recorded operations was found.
	ordered bool
	// serving are the times from a kill of the only process until requests are served
	// again, failover those from a blow to the leader until another replica serves them.
	serving, failover []taken
}

// taken is a time that was measured.
type taken struct {
	took time.Duration
	// stalled is for how long of it the machine stood still.
	stalled time.Duration
}

func (t taken) String() string {
	if t.stalled == 0 {
		return seconds(t.took)
	}
	return fmt.Sprintf("%s, of which the machine stood still for %s", seconds(t.took), seconds(t.stalled))
}

// String is the last line of a run.
func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d kills, %d failovers:", r.kills, r.failovers)
	for _, v := range []verdict{leaseLost, sessionLost, cooldownLost, grantedTwice} {
		fmt.Fprintf(&b, " %d %s,", r.counts[v], v)
	}
	switch {
	case r.counts[notLinear] > 0:
		b.WriteString(" not linearizable")
	case r.ordered:
		b.WriteString(" linearizable")
	default:
		b.WriteString(" linearizability not known")
	}
	if n := r.counts[broken]; n > 0 {
		fmt.Fprintf(&b, ", %d other promises broken", n)
	}
	lead := ";"
	for _, m := range []struct {
		what  string
		times []taken
	}{{"serving again after", r.serving}, {"failover", r.failover}} {
		if len(m.times) > 0 {
			fmt.Fprintf(&b, "%s %s %.1f s at most", lead, m.what, slices.Max(sorted(m.times)).Seconds())
			lead = ","
		}
	}
	return b.String()
}

// slow names the bounds that the program has exceeded.
func (r *result) slow(serving, failover time.Duration) (what []string) {
	for _, m := range []struct {
		name  string
		times []taken
		bound time.Duration
	}{{"serving again", r.serving, serving}, {"failover", r.failover, failover}} {
		if n := over(m.times, m.bound); n > 0 {
			what = append(what, fmt.Sprintf("%s took longer than %s %d times", m.name, m.bound, n))
		}
	}
	return what
}

func over(times []taken, bound time.Duration) (n int) {
	for _, t := range times {
		if t.took-t.stalled > bound {
			n++
		}
	}
	return n
}

func sorted(times []taken) (all []time.Duration) {
	for _, t := range times {
		all = append(all, t.took)
	}
	slices.Sort(all)
	return all
}

// distribution of times, in seconds.
func distribution(times []taken) string {
	all := sorted(times)
	at := func(percent int) float64 { return all[(len(all)-1)*percent/100].Seconds() }
	return fmt.Sprintf("%d times, least %.2f s, half within %.2f s, nine of ten within %.2f s, most %.2f s", len(all), at(0), at(50), at(90), at(100))
}
