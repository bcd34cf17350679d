package leasecli

import (
	"time"

	"github.com/spf13/pflag"

	"example.com/fairlead/api/client"
)

// addRequestFlags are for commands that lease.
func addRequestFlags(f *pflag.FlagSet, r *client.Request, wait time.Duration) {
	f.StringToStringVar(&r.Selector, "selector", nil, "`attributes` that the proxy must have: region=eu,tier=fast")
	f.StringVar(&r.Target, "target", "", "`host` that will be fetched from: cooldowns and budgets are kept for each")
	f.DurationVar(&r.TTL, "ttl", 5*time.Minute, "`time` that the lease lasts")
	f.DurationVar(&r.Wait, "wait", wait, "`time` to wait for a proxy to become free")
	f.StringVar(&r.Session, "session", "", "`name` that gets the same proxy as the last time it was given")
	f.BoolVar(&r.Exclusive, "exclusive", false, "share the proxy with no other lease")
	f.IntVar(&r.Priority, "priority", 0, "`number` from 0 to 9: the highest is served first of those who wait")
}
