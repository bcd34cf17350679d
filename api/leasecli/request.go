package leasecli

import (
	"time"

	"github.com/spf13/pflag"

	"example.com/fairlead/api/client"
)

const (
	flagTTL  = "ttl"
	flagWait = "wait"
)

// checkRequest refuses times that cannot be meant.
func checkRequest(r *client.Request) error {
	if err := wholeSeconds(flagTTL, r.TTL, time.Second); err != nil {
		return err
	}
	return wholeSeconds(flagWait, r.Wait, 0)
}

// addRequestFlags are for commands that lease.
func addRequestFlags(f *pflag.FlagSet, r *client.Request, wait time.Duration) {
	f.StringToStringVar(&r.Selector, "selector", nil, "`attributes` that the proxy must have: region=eu,tier=fast")
	f.StringVar(&r.Target, "target", "", "`host` that will be fetched from: cooldowns and budgets are kept for each")
	f.DurationVar(&r.TTL, flagTTL, 5*time.Minute, "`time` that the lease lasts")
	f.DurationVar(&r.Wait, flagWait, wait, "`time` to wait for a proxy to become free")
	f.StringVar(&r.Session, "session", "", "`name` that gets the same proxy as the last time it was given")
	f.BoolVar(&r.Exclusive, "exclusive", false, "share the proxy with no other lease")
	f.IntVar(&r.Priority, "priority", 0, "`number` from 0 to 9: the highest is served first of those who wait")
}
