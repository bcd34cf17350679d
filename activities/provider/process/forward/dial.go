package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const dialTimeout = 15 * time.Second

// dialer makes all outgoing connections.
type dialer struct {
	net.Dialer
	from netip.Addr // invalid when the system chooses
}

func newDialer(from string) (*dialer, error) {
	d := &dialer{Dialer: net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}}
	if from == "" {
		return d, nil
	}
	addr, err := netip.ParseAddr(from)
	if err != nil {
		return nil, fmt.Errorf("address to dial from: %w", err)
	}
	d.from = addr
	d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
	return d, nil
}

// dial connects to a target. Its errors are told to clients.
func (d *dialer) dial(ctx context.Context, network, target string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, network, target)
	if err != nil && d.outOfReach(err) {
		return nil, fmt.Errorf("%s cannot be reached from the loopback address %s: this proxy reaches targets on its own machine only (%w)",
			target, d.from, err)
	}
	return conn, err
}

// outOfReach tells a target beyond this machine: the kernel routes no packet out
// whose source is a loopback address.
func (d *dialer) outOfReach(err error) bool {
	return d.from.IsLoopback() && (errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENETUNREACH))
}
