// Package eventually lets a test wait for what must come to be, and fails it when that
// does not.
package eventually

import (
	"testing"
	"time"
)

const (
	// patience is for a busy machine: what works comes to be long before.
	patience = time.Minute
	// pause is between two looks.
	pause = 10 * time.Millisecond
)

// Until waits until ok, a minute at most. What says what is waited for.
func Until(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	Within(tb, what, patience, ok)
}

// Within is Until with a patience of its own, for what is slow or must be fast.
func Within(tb testing.TB, what string, within time.Duration, ok func() bool) {
	tb.Helper()
	Sees(tb, what, within, func() (bool, string) { return ok(), "" })
}

// Sees is Within that tells what was seen last.
func Sees(tb testing.TB, what string, within time.Duration, ok func() (done bool, seen string)) {
	tb.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(pause) {
		done, seen := ok()
		switch {
		case done:
			return
		case time.Now().Before(deadline):
		case seen == "":
			tb.Fatalf("not within %s: %s", within, what)
		default:
			tb.Fatalf("not within %s: %s; last seen: %s", within, what, seen)
		}
	}
}
