package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/fairlead/api/leasecli"
)

func TestACommandUnderALeaseGivesItsCode(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		code int
		says string
	}{
		"the command's own": {fmt.Errorf("exec: %w", &leasecli.Ended{Code: 42}), 42, ""},
		"anything else":     {errors.New("no proxy"), 1, "fairlead: no proxy\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var says strings.Builder
			if code := failed(&says, test.err); code != test.code || says.String() != test.says {
				t.Errorf("code %d, %q", code, says.String())
			}
		})
	}
}
