package server

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
	"example.com/fairlead/temporal/wire"
)

// Teller tells the workflow of a Proxy that its leases have changed.
type Teller interface {
	Lease(ctx context.Context, ref wire.ProxyRef) error
}

const (
	// expiryLook is how late it may be noticed that a lease ran out.
	expiryLook = time.Second
	// tellTimeout and tellers bound what is under way while Temporal is away.
	tellTimeout = 5 * time.Second
	tellers     = 16
)

// TellDrained tells the workflow of each draining proxy that the last of its leases
// has ended, until ctx ends. Nobody waits for it, and what does not arrive only
// costs time: the worker looks by itself every now and then.
func (a *API) TellDrained(ctx context.Context) {
	s := a.server
	look := time.NewTicker(expiryLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Store.Idled():
		case <-look.C:
		}
		var round errgroup.Group
		round.SetLimit(tellers)
		for _, c := range s.Store.Idle() {
			round.Go(func() error {
				s.tellIfDraining(ctx, c)
				return nil
			})
		}
		_ = round.Wait() // what failed is logged
	}
}

// tellIfDraining reads the proxy anew: the store knows it as it was at the last
// request.
func (s *server) tellIfDraining(ctx context.Context, c lease.Candidate) {
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	ref := refOf(c)
	var p crawl.Proxy
	err := s.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &p)
	if client.IgnoreNotFound(err) == nil && (err != nil || string(p.UID) != ref.UID || p.Status.Phase != crawl.PhaseDraining) {
		return
	}
	if err == nil {
		err = s.Drained.Lease(ctx, ref)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "the workflow of a draining proxy does not know yet that its last lease ended", "proxy", ref.String(), "error", err)
	}
}
