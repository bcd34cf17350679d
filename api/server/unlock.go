package server

import (
	"context"
	"errors"

	"example.com/fairlead/api/crawl/secrets"
	"example.com/fairlead/api/lease"
)

// errGone is a proxy that went away since it was lent.
var errGone = errors.New("the proxy is gone")

// unlock reads what the proxies of leases ask their clients for. A proxy that nobody can
// use is set aside, with all that share its Secret: a pool that lost it is not tried one
// by one.
func (s *server) unlock(ctx context.Context, e *lease.Engine, leases []lease.Lease) ([]*secrets.Credentials, error) {
	all := make([]*secrets.Credentials, len(leases))
	for i, l := range leases {
		p := s.fleet.uid(l.Proxy.UID)
		if p == nil {
			return nil, errGone
		}
		if p.Spec.AuthSecretRef == nil {
			continue
		}
		c, err := secrets.ForProxy(ctx, s.Secrets, p)
		if err == nil && current(p, c) {
			all[i] = c
			continue
		}
		uids := []string{l.Proxy.UID}
		if err == nil {
			err = errRotated
		} else {
			uids = s.fleet.sharing(p)
		}
		locked := &lockedProxy{l.Proxy.Key, err}
		if !locked.passing() {
			s.Log.WarnContext(ctx, "passed over", "error", locked, "requestID", requestID(ctx))
			s.locked.note(p, locked)
			e.SetAside(uids, asideFor)
		}
		return nil, locked
	}
	return all, nil
}
