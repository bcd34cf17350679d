package drain

import (
	"context"

	"example.com/fairlead/temporal/wire"
)

// CountBans says how often an address was reported as banned. An attempt is one look; an
// api that cannot be asked, or knows another address, is no failure, since the caller
// bounds the wait. A proxy that the api does not know has no bans.
func (a *Activities) CountBans(ctx context.Context, in wire.BansInput) (wire.Bans, error) {
	said, known, err := a.ask(ctx, in.Proxy)
	switch at := (wire.Endpoint{Host: said.Host, Port: said.Port}); {
	case err != nil || !known:
		return wire.Bans{}, err
	case said.Bans == nil:
		return wire.Bans{}, later("the api at --%s counts no bans yet: it is older than this worker", FlagURL)
	case at != in.Address:
		return wire.Bans{}, later("the api knows Proxy %s at %s:%d, not yet at %s:%d", in.Proxy, at.Host, at.Port, in.Address.Host, in.Address.Port)
	}
	return wire.Bans{Count: *said.Bans}, nil
}
