package main

import (
	"fmt"
	"strings"
	"time"
)

// verdict is what kind of promise was broken.
type verdict string

const (
	hookTwice  verdict = "hooks run twice"
	objectLost verdict = "objects lost"
	leftBehind verdict = "left behind"
	secretTold verdict = "secrets told"
	broken     verdict = "other promises broken"
)

// violation is a broken promise. What is said of it is for people.
type violation struct {
	verdict verdict
	what    string
}

func (v *violation) Error() string { return string(v.verdict) + ": " + v.what }

func violated(kind verdict, format string, args ...any) *violation {
	return &violation{kind, fmt.Sprintf(format, args...)}
}

// result is what a run has come to.
type result struct {
	lives, kills int
	// steps are those writes of a life at which a worker was killed.
	steps map[int]bool
	// counts are of broken promises.
	counts map[verdict]int
	// back are the times from a kill until the worker writes again.
	back []time.Duration
}

// String is the last line of a run.
func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lives, %d kills at %d steps:", r.lives, r.kills, len(r.steps))
	for i, v := range []verdict{hookTwice, objectLost, leftBehind, secretTold} {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d %s", r.counts[v], v)
	}
	if n := r.counts[broken]; n > 0 {
		fmt.Fprintf(&b, ", %d %s", n, broken)
	}
	if len(r.back) > 0 {
		fmt.Fprintf(&b, "; back to work after %.1f s at most", longest(r.back).Seconds())
	}
	return b.String()
}

func longest(all []time.Duration) (most time.Duration) {
	for _, d := range all {
		most = max(most, d)
	}
	return most
}
