package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheLastLine(t *testing.T) {
	for _, tt := range []struct {
		verdicts []verdict
		want     string
	}{
		{nil, "7 lifecycles: 0 leaked, 0 duplicates, 0 stuck"},
		{[]verdict{leaked, duplicate, duplicate, stuck}, "7 lifecycles: 1 leaked, 2 duplicates, 1 stuck"},
		{[]verdict{broken}, "7 lifecycles: 0 leaked, 0 duplicates, 0 stuck, 1 broken"},
	} {
		r := &run{stop: func(error) {}, result: result{lifecycles: 7}}
		for _, v := range tt.verdicts {
			r.fail(&violation{verdict: v})
		}
		if got := r.result.String(); got != tt.want {
			t.Errorf("the line is %q, want %q", got, tt.want)
		}
	}
}

func TestARunThatFailsDoesNotLookLikeOneThatPasses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	code := command(t.Context(), []string{"-lifecycles", "1", "-bin-dir", t.TempDir()}, &out)
	if line := "0 lifecycles: 0 leaked, 0 duplicates, 0 stuck, and the run failed\n"; code != 1 || !strings.HasSuffix(out.String(), line) {
		t.Errorf("it ended with %d and printed:\n%s", code, out.String())
	}
}
