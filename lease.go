package main

import (
	"errors"
	"fmt"
	"io"

	"example.com/fairlead/api/leasecli"
)

// failed tells why this process ends, and returns its exit code. What ran under a lease has
// a code of its own, and said itself what there was to say.
func failed(w io.Writer, err error) int {
	var ended *leasecli.Ended
	if errors.As(err, &ended) {
		return ended.Code
	}
	_, _ = fmt.Fprintln(w, "fairlead:", err)
	return 1
}
