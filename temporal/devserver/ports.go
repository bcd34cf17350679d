package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// loopback is the only address that the server's own services listen on.
const loopback = "127.0.0.1"

// The range lies below the kernel's ephemeral ports, so that no outgoing
// connection takes a port between its choice and its use.
const (
	firstFree = 20000
	lastFree  = 32000
)

// reservePorts finds n free ports on loopback. Servers that start at the same time
// get different ones: each port is marked for as long as this process lives.
func reservePorts(n int) ([]int, error) {
	var ports []int
	for port := firstFree; port < lastFree && len(ports) < n; port++ {
		mark, err := markPort(port)
		if err != nil {
			return nil, err
		}
		if mark < 0 {
			continue
		}
		if checkFree(loopback, port) != nil {
			_ = syscall.Close(mark)
			continue
		}
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, fmt.Errorf("find %d free ports between %d and %d: only %d are free", n, firstFree, lastFree, len(ports))
	}
	return ports, nil
}

// markPort gives a descriptor that marks a port as reserved, -1 when another one
// does; deploy/local/ports marks in the same way. An abstract unix socket is a lock
// that ends with its process and leaves no file. A net.Listener that nobody refers
// to would be closed by the garbage collector, a descriptor is not.
func markPort(port int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("reserve port %d: %w", port, err)
	}
	err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: "@fairlead-port-" + strconv.Itoa(port)})
	if err == nil {
		return fd, nil
	}
	_ = syscall.Close(fd)
	if errors.Is(err, syscall.EADDRINUSE) {
		return -1, nil
	}
	return -1, fmt.Errorf("reserve port %d: %w", port, err)
}

// checkPorts turns a taken port into an error that names it: the server itself
// would panic.
func checkPorts(o options) error {
	err := flagged("--port", checkFree(o.IP, o.Port))
	if o.Headless {
		return err
	}
	return errors.Join(err, flagged("--ui-port", checkFree(o.UIIP, o.UIPort)))
}

func flagged(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: choose another one with %s", err, flag)
}

func checkFree(ip string, port int) error {
	address := net.JoinHostPort(ip, strconv.Itoa(port))
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("address %s is taken by another process", address)
	}
	if err != nil {
		return fmt.Errorf("address %s cannot be listened on: %w", address, err)
	}
	return l.Close()
}
