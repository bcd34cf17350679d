package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBlowsFallBeforeAndAfterEachWrite(t *testing.T) {
	all := drawBlows(7, 3, 0)
	times := map[blow]int{}
	for _, b := range all {
		times[b]++
	}
	want := map[blow]int{{1, false}: 1, {1, true}: 1, {2, false}: 1, {2, true}: 1, {3, false}: 1, {3, true}: 1}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[:4], drawBlows(7, 3, 4), cmp.AllowUnexported(blow{})); diff != "" {
		t.Errorf("fewer of the same seed are others: %s", diff)
	}
	if more := drawBlows(7, 3, 8); !cmp.Equal(more[6:], all[:2], cmp.AllowUnexported(blow{})) {
		t.Errorf("more begin anew with %v, not %v", more[6:], all[:2])
	}
}

func TestTheLastLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result result
		want   string
	}{
		{
			"all was kept",
			result{lives: 3, kills: 2, steps: map[int]bool{1: true}, back: []time.Duration{time.Second, 4100 * time.Millisecond, 0}},
			"3 lives, 2 kills at 1 steps: 0 hooks run twice, 0 objects lost, 0 left behind, 0 secrets told; back to work after 4.1 s at most",
		},
		{
			"nothing was kept",
			result{lives: 1, counts: map[verdict]int{hookTwice: 1, objectLost: 2, leftBehind: 3, secretTold: 4, broken: 5}},
			"1 lives, 0 kills at 0 steps: 1 hooks run twice, 2 objects lost, 3 left behind, 4 secrets told, 5 other promises broken",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.result.String(); got != tt.want {
				t.Errorf("the line is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestARunThatFailsDoesNotLookLikeOneThatPasses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	code := command(t.Context(), []string{"-bin-dir", t.TempDir()}, &out)
	if code != 1 || !strings.HasSuffix(out.String(), ", and the run failed\n") {
		t.Errorf("it ended with %d and printed:\n%s", code, out.String())
	}
}

func TestArgumentsThatAskForNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-lives", "-1"}, {"-slots", "0"}, {"7"}} {
		var out bytes.Buffer
		if code := command(t.Context(), args, &out); code != 2 || out.Len() == 0 {
			t.Errorf("%v ended with %d and printed %q", args, code, out.String())
		}
	}
}
