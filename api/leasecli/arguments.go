package leasecli

import (
	"fmt"
	"time"
)

const (
	listed = "; fairlead lease ls lists them"
	// mostLeases is what the API lends at once.
	mostLeases = 100
)

// wholeSeconds refuses what the API cannot be asked for.
func wholeSeconds(flag string, d, least time.Duration) error {
	if d < least || d%time.Second != 0 {
		return fmt.Errorf("--%s is %s: give whole seconds, %s or more", flag, d, least)
	}
	return nil
}

// check refuses numbers of leases that cannot be meant.
func (g *getting) check(given func(flag string) bool) error {
	switch {
	case given(flagAtLeast) && !given(flagCount):
		return fmt.Errorf("--%s says how many of --%s are enough: give --%s too", flagAtLeast, flagCount, flagCount)
	case given(flagCount) && (g.count < 1 || g.count > mostLeases):
		return fmt.Errorf("--%s is %d: give 1 to %d", flagCount, g.count, mostLeases)
	case given(flagAtLeast) && (g.atLeast < 1 || g.atLeast > g.count):
		return fmt.Errorf("--%s is %d: give 1 to %d, which is --%s", flagAtLeast, g.atLeast, g.count, flagCount)
	}
	return nil
}
