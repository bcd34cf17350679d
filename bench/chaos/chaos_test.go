package main

import "testing"

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
