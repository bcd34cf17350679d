package process

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/holder"
)

// maxProbes bounds how many addresses are tried for one instance.
const maxProbes = 1024

var loopback = netip.MustParsePrefix("127.0.0.0/8")

func parseNetwork(text string) (netip.Prefix, error) {
	if text == "" {
		text = defaultNetwork
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	network = network.Masked()
	if !network.Addr().Is4() || !loopback.Contains(network.Addr()) || network.Bits() < loopback.Bits() || network.Bits() > 30 {
		return netip.Prefix{}, fmt.Errorf("%s is not a network of at least 4 addresses within %s", text, loopback)
	}
	return network, nil
}

// candidates yields addresses of the network for an instance, the first one by
// hash, so that a replacement has another address than what it replaces. The
// first and the last address of the network are left out.
func candidates(network netip.Prefix, uid string, incarnation int64) func(yield func(netip.Addr) bool) {
	hosts := uint64(1)<<(32-network.Bits()) - 2
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, incarnation))
	first := binary.BigEndian.Uint64(sum[:8]) % hosts
	base := binary.BigEndian.Uint32(network.Addr().AsSlice())
	return func(yield func(netip.Addr) bool) {
		for i := range min(hosts, maxProbes) {
			offset := uint32(1 + (first+i)%hosts) // #nosec G115 -- below 2^24
			var raw [4]byte
			binary.BigEndian.PutUint32(raw[:], base+offset)
			if !yield(netip.AddrFrom4(raw)) {
				return
			}
		}
	}
}

// chooseAddress finds an address that no instance has and nobody listens on. It is
// called with the lock of the state directory.
func (p *Provider) chooseAddress(ctx context.Context, req provider.Request, port int32) (netip.Addr, error) {
	owners, err := p.addressOwners()
	if err != nil {
		return netip.Addr{}, err
	}
	var taken error
	for addr := range candidates(p.network, req.Owner.UID, req.Incarnation) {
		if owner, ok := owners[addr]; ok {
			if taken == nil {
				taken = fmt.Errorf("%s belongs to instance %s", addr, owner)
			}
			continue
		}
		err := tryAddress(ctx, netip.AddrPortFrom(addr, uint16(port))) // #nosec G115 -- validated by the object's schema
		switch {
		case err == nil:
			return addr, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return netip.Addr{}, err
		case taken == nil:
			taken = takenError(netip.AddrPortFrom(addr, uint16(port)), err) // #nosec G115 -- see above
		}
	}
	return netip.Addr{}, fmt.Errorf("no address of %s is free for port %d (%w): choose another port or a larger process.network: %w",
		p.network, port, taken, provider.ErrTransient)
}

// tryAddress says whether a proxy could listen at the address just now.
func tryAddress(ctx context.Context, at netip.AddrPort) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", at.String())
	switch {
	case err == nil:
		return l.Close()
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen on %s: %w: choose a port above 1023: %w", at, err, provider.ErrPermanent)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("listen on %s: %w: choose another process.network: %w", at, err, provider.ErrPermanent)
	default:
		return fmt.Errorf("listen on %s: %w", at, err)
	}
}

// takenError names who holds the address, where that can be seen.
func takenError(at netip.AddrPort, err error) error {
	who, findErr := holder.Find(at.String())
	if findErr != nil || who == nil {
		return err
	}
	return fmt.Errorf("%w: process %d (%s) listens there", err, who.PID, who.Command)
}
