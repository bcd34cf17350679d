package leasecli

import (
	"time"

	"example.com/fairlead/api/cli"
)

// outputURL prints what programs take for a proxy.
const outputURL cli.Output = "url"

// list is how the API writes several leases.
type list[T any] struct {
	Leases []T `json:"leases"`
	Count  int `json:"count"`
}

// in is a time from now; the clocks of two machines may make it negative.
func in(d time.Duration) string { return "in " + rounded(d) }

func rounded(d time.Duration) string { return max(0, d).Round(time.Second).String() }
