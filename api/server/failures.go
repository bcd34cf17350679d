package server

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

const (
	// failuresPerMinute is how many failed authentications an address has; as many may come
	// at once.
	failuresPerMinute = 20
	// maxAddresses bounds what is remembered of those that fail.
	maxAddresses = 10000
	// networkBits is what one holder of IPv6 addresses has at least.
	networkBits = 64
)

// failures counts failed authentications for each remote address.
type failures struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	byAddr map[netip.Addr]*list.Element
	// recent has the address that failed last in front.
	recent *list.List
}

type failing struct {
	addr  netip.Addr
	limit *rate.Limiter
}

func newFailures(c clock.PassiveClock) *failures {
	return &failures{clock: c, byAddr: map[netip.Addr]*list.Element{}, recent: list.New()}
}

// another counts a failure, and returns how long remote has to wait if it has no more of
// them.
func (f *failures) another(remote string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	addr := sourceOf(remote)
	at, ok := f.byAddr[addr]
	if ok {
		f.recent.MoveToFront(at)
	} else {
		at = f.recent.PushFront(failing{addr, rate.NewLimiter(rate.Every(time.Minute/failuresPerMinute), failuresPerMinute)})
		f.byAddr[addr] = at
	}
	if f.recent.Len() > maxAddresses {
		oldest, _ := f.recent.Remove(f.recent.Back()).(failing)
		delete(f.byAddr, oldest.addr)
	}
	now := f.clock.Now()
	entry, _ := at.Value.(failing)
	r := entry.limit.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// sourceOf is the address that counts: of IPv6 the network, since whoever has one
// address has them all.
func sourceOf(remote string) netip.Addr {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := a.Addr().Unmap().WithZone("")
	if !addr.Is6() {
		return addr
	}
	network, err := addr.Prefix(networkBits)
	if err != nil {
		return addr
	}
	return network.Addr()
}
