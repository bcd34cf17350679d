// Package probe finds out whether proxies work, by using them: it fetches a target
// through each, on a connection of its own, and tells what changed. It is a plain
// library that knows neither Temporal nor a Kubernetes client.
package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Verdict is what a probe found, in one word.
type Verdict string

// The verdicts.
const (
	Healthy Verdict = "healthy"
	// Slow proxies are healthy, with a reason.
	Slow Verdict = "slow"
	// Dead proxies gave no answer, or not the expected one.
	Dead Verdict = "dead"
	// Auth: the proxy asks for other credentials than it was given.
	Auth Verdict = "auth"
	// Forbidden: the proxy itself refused to fetch the target.
	Forbidden Verdict = "forbidden"
	// Blocked: the target refused, which says nothing about the proxy's life.
	Blocked Verdict = "blocked"
	// WrongExit: targets see another address than they should.
	WrongExit Verdict = "wrong-exit"
)

// OK says whether a proxy with verdict v works.
func (v Verdict) OK() bool { return v == Healthy || v == Slow }

// Result is what one probe found.
type Result struct {
	Verdict Verdict
	// Latency from the first packet to the end of the answer, connecting included.
	Latency time.Duration
	// ExitIP is the address that the target saw, where it said so.
	ExitIP string
	// Message says what went wrong, without credentials.
	Message string
}

// Probe probes t once: it fetches all its URLs at the same time and weighs what
// came back.
func Probe(ctx context.Context, t Target) Result {
	if t.Problem != nil {
		return *t.Problem
	}
	ctx, cancel := context.WithTimeout(ctx, t.Check.Timeout)
	defer cancel()
	results := make([]Result, len(t.Check.URLs))
	var wg sync.WaitGroup
	for i, u := range t.Check.URLs {
		wg.Go(func() { results[i] = fetch(ctx, t, u).judge(t.Check) })
	}
	wg.Wait()
	r := weigh(results, t.Check.Quorum)
	if !r.Verdict.OK() {
		return r
	}
	if t.Check.SlowAfter > 0 && r.Latency > t.Check.SlowAfter {
		r.Verdict = Slow
		r.Message = fmt.Sprintf("answered after %s, slow is more than %s", r.Latency.Round(time.Millisecond), t.Check.SlowAfter)
	}
	return checkExit(ctx, t, r)
}

// severity orders what to tell of a probe without quorum: what a person can mend
// goes first.
var severity = []Verdict{Auth, Forbidden, Dead, Blocked}

// weigh makes one result of those of all URLs. A blocked one proves neither that
// the proxy works nor that it does not, so a quorum that it could have made up
// leaves the matter open.
func weigh(results []Result, quorum int) Result {
	var good, open []Result
	worst := Result{Verdict: Blocked}
	for _, r := range results {
		switch {
		case r.Verdict.OK():
			good = append(good, r)
			continue
		case r.Verdict == Blocked:
			open = append(open, r)
		}
		if worst.Message == "" || slices.Index(severity, r.Verdict) < slices.Index(severity, worst.Verdict) {
			worst = r
		}
	}
	switch {
	case len(good) >= quorum:
		return median(good)
	case len(good)+len(open) >= quorum:
		worst = open[0]
	}
	if len(results) > 1 {
		worst.Message = fmt.Sprintf("%d of %d targets answered, %d must: %s", len(good), len(results), quorum, worst.Message)
	}
	return worst
}

// median is the result of middling latency, with the exit address that any saw.
func median(good []Result) Result {
	slices.SortStableFunc(good, func(a, b Result) int { return int(a.Latency - b.Latency) })
	r := good[(len(good)-1)/2]
	for _, g := range good {
		if r.ExitIP == "" {
			r.ExitIP = g.ExitIP
		}
	}
	return r
}

// checkExit asks the echo URL, if there is one, and compares. An exit address that
// is not known is not wrong: it leaves the matter open where one is asked for.
func checkExit(ctx context.Context, t Target, r Result) Result {
	x := t.Check.Exit
	if x.EchoURL != "" {
		a := fetch(ctx, t, x.EchoURL)
		r.ExitIP = a.address()
		if r.ExitIP == "" && x.asked() {
			return Result{Verdict: Blocked, Message: fmt.Sprintf("exit address unknown: %s did not answer with an address%s", origin(x.EchoURL), a.because())}
		}
	}
	if !x.asked() {
		return r
	}
	exit, err := netip.ParseAddr(r.ExitIP)
	if err != nil {
		return Result{Verdict: Blocked, Message: "exit address unknown: set healthCheck.exit.echoURL to a URL that answers with the caller's address"}
	}
	if x.Expect.IsValid() && !x.Expect.Contains(exit) {
		r.Verdict = WrongExit
		r.Message = fmt.Sprintf("leaves by %s, expected %s", exit, x.Expect)
	}
	return r
}
