// Package ports checks and finds TCP addresses to listen on.
package ports

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.com/fairlead/activities/provider/process/holder"
)

// TakenError says that somebody else listens on an address.
type TakenError struct {
	// Address that was wanted.
	Address string
	// Flag that chooses another one.
	Flag string
	// Holder listens there; nil when it cannot be told.
	Holder *holder.Holder
}

// Error names the address, who holds it and how to choose another one.
func (e *TakenError) Error() string {
	who := "by a process that cannot be seen from here"
	if e.Holder != nil {
		who = fmt.Sprintf("by process %d (%s)", e.Holder.PID, e.Holder.Command)
	}
	return fmt.Sprintf("address %s is taken %s: end it, or choose another port with %s", e.Address, who, e.Flag)
}

// A process that was killed is out of sight a moment before the kernel has closed
// its sockets: a holder that cannot be seen is waited for.
const (
	dyingLooks = 25
	dyingPause = 200 * time.Millisecond
)

// Check returns a *TakenError when the address cannot be listened on because it
// is taken. flag is the one that changes the address.
func Check(address, flag string) error {
	var taken *TakenError
	for range dyingLooks {
		err := check(address, flag)
		if !errors.As(err, &taken) || taken.Holder != nil {
			return err
		}
		time.Sleep(dyingPause)
	}
	return taken
}

func check(address, flag string) error {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l.Close()
	case !errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("address %s of %s cannot be listened on: %w", address, flag, err)
	}
	who, err := find(address)
	if err != nil {
		return errors.Join(&TakenError{Address: address, Flag: flag}, err)
	}
	return &TakenError{Address: address, Flag: flag, Holder: who}
}

// find tells who holds an address, which may have the name of a host, or none.
func find(address string) (*holder.Holder, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("find who listens on %q: %w", address, err)
	}
	if a.IP == nil {
		a.IP = net.IPv6unspecified
	}
	return holder.Find(a.AddrPort().String())
}

// The range lies below the kernel's ephemeral ports, so that no outgoing
// connection takes a port between its choice and its use.
const (
	firstFree = 20000
	lastFree  = 32000
)

// Reservation keeps ports from being handed out twice on this machine.
type Reservation struct {
	// Ports that nobody listens on.
	Ports []int
	// File descriptors: a net.Listener that nobody refers to is closed by the
	// garbage collector, and with it the port would be anybody's.
	marks []int
}

// Reserve finds n free ports on 127.0.0.1. Until Release, or the end of this
// process, no other Reserve on the machine returns them.
func Reserve(n int) (*Reservation, error) {
	r := &Reservation{}
	for port := firstFree; port < lastFree && len(r.Ports) < n; port++ {
		mark, err := markPort(port)
		if err != nil {
			r.Release()
			return nil, err
		}
		if mark < 0 {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			_ = unix.Close(mark)
			continue
		}
		_ = l.Close()
		r.Ports = append(r.Ports, port)
		r.marks = append(r.marks, mark)
	}
	if len(r.Ports) < n {
		r.Release()
		return nil, fmt.Errorf("find %d free ports between %d and %d: only %d are free", n, firstFree, lastFree, len(r.Ports))
	}
	return r, nil
}

// Release lets others have the ports.
func (r *Reservation) Release() {
	for _, m := range r.marks {
		_ = unix.Close(m)
	}
	r.marks = nil
}

// markPort gives a descriptor that marks a port as reserved, -1 when another one
// does. An abstract unix socket is a lock that ends with its process and leaves no
// file.
func markPort(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("reserve port %d: %w", port, err)
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@fairlead-port-" + strconv.Itoa(port)})
	if err == nil {
		return fd, nil
	}
	_ = unix.Close(fd)
	if errors.Is(err, unix.EADDRINUSE) {
		return -1, nil
	}
	return -1, fmt.Errorf("reserve port %d: %w", port, err)
}
