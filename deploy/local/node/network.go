package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// namespaceDir is where iproute2 keeps network namespaces.
const namespaceDir = "/run/netns"

// Address is the node's own address; the API server listens there too.
func (n *Node) Address() string { return fmt.Sprintf("10.200.%d.2", n.options.Subnet) }

// gateway is the machine's address on the link to the node.
func (n *Node) gateway() string { return fmt.Sprintf("10.200.%d.1", n.options.Subnet) }

func (n *Node) linkCIDR() string { return fmt.Sprintf("10.200.%d.0/30", n.options.Subnet) }

func (n *Node) podCIDR() string { return fmt.Sprintf("10.244.%d.0/24", n.options.Subnet) }

// ServiceCIDR is where Services have their addresses.
func (n *Node) ServiceCIDR() string { return fmt.Sprintf("10.96.%d.0/24", n.options.Subnet) }

func (n *Node) namespaceFile() string { return filepath.Join(namespaceDir, n.name) }

// Prefix makes a command run in the node's network.
func (n *Node) Prefix() []string { return []string{"nsenter", "--net=" + n.namespaceFile()} }

// Listen listens on the node's own address, where pods and this machine reach
// it. The socket stays in the node's network whoever uses it.
func (n *Node) Listen(port int) (net.Listener, error) {
	var l net.Listener
	err := n.inside(func() error {
		var err error
		l, err = net.Listen("tcp", net.JoinHostPort(n.Address(), strconv.Itoa(port)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen in the node's network: %w", err)
	}
	return l, nil
}

// inside calls f on a thread that is in the node's network namespace. The thread
// is not unlocked, so it ends with the goroutine and nothing else ever runs there.
// The program's first thread cannot end, and stands for the program in /proc.
func (n *Node) inside(f func() error) error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			ended <- n.inside(f)
			return
		}
		ns, err := os.Open(n.namespaceFile())
		if err != nil {
			ended <- fmt.Errorf("open network namespace: %w", err)
			return
		}
		defer func() { _ = ns.Close() }()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			ended <- fmt.Errorf("enter network namespace %s: %w", n.name, err)
			return
		}
		ended <- f()
	}()
	return <-ended
}

// checkSubnet refuses addresses that the machine already uses otherwise.
func (n *Node) checkSubnet(ctx context.Context) error {
	for _, cidr := range []string{n.linkCIDR(), n.podCIDR(), n.ServiceCIDR()} {
		routes, err := ip(ctx, "-o", "route", "show", "root", cidr)
		if err != nil {
			return err
		}
		if routes != "" {
			first, _, _ := strings.Cut(routes, "\n")
			return fmt.Errorf("the machine already has the route %q within %s: end what made it, or choose other addresses with %s",
				strings.TrimSpace(first), cidr, n.options.SubnetFlag)
		}
	}
	return nil
}

// makeNetwork makes the namespace, its link to the machine, and the routes to
// pods and Services.
func (n *Node) makeNetwork(ctx context.Context) error {
	steps := [][]string{
		{"netns", "add", n.name},
		{"-n", n.name, "link", "set", "lo", "up"},
		{"link", "add", n.name, "type", "veth", "peer", "name", "eth0", "netns", n.name},
		{"addr", "add", n.gateway() + "/30", "dev", n.name},
		{"link", "set", n.name, "up"},
		{"-n", n.name, "addr", "add", n.Address() + "/30", "dev", "eth0"},
		{"-n", n.name, "link", "set", "eth0", "up"},
		{"route", "add", n.podCIDR(), "via", n.Address(), "dev", n.name},
		{"route", "add", n.ServiceCIDR(), "via", n.Address(), "dev", n.name},
		// Only so that the address of a Service has a route: kube-proxy rewrites it.
		{"-n", n.name, "route", "add", n.ServiceCIDR(), "via", n.gateway()},
	}
	for _, args := range steps {
		if _, err := ip(ctx, args...); err != nil {
			return err
		}
	}
	err := n.inside(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600) // of that namespace
	})
	if err != nil {
		return fmt.Errorf("let the node forward packets of its pods: %w", err)
	}
	return nil
}

// removeNetwork removes the link, which takes its routes along, and the namespace.
func (n *Node) removeNetwork(ctx context.Context) error {
	var errs []error
	if _, err := os.Stat(filepath.Join("/sys/class/net", n.name)); err == nil {
		_, err := ip(ctx, "link", "del", n.name)
		errs = append(errs, err)
	}
	if _, err := os.Stat(n.namespaceFile()); err == nil {
		_, err := ip(ctx, "netns", "del", n.name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ip runs iproute2.
func ip(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ip", args...) // #nosec G204 -- arguments are this package's own
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
