package cluster

import "time"

// SetClock has c see the time that now tells.
func (c *Cluster) SetClock(now func() time.Time) { c.served.now = now }
