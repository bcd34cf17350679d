package server

import (
	"context"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/temporal/wire"
)

// Teller tells the workflow of a Proxy that its leases have changed.
type Teller interface {
	Lease(ctx context.Context, ref wire.ProxyRef) error
}

// Notify tells the workflow of a proxy what the engine noticed. That a last lease ended
// matters only while the proxy drains.
func (a *API) Notify(ctx context.Context, n lease.Notice) error {
	if p := a.server.fleet.uid(n.Proxy.UID); p == nil || !n.Banned && !draining(p) {
		return nil
	}
	return a.server.Workflows.Lease(ctx, refOf(n.Proxy))
}
