package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// network is a bridge of this machine with a network namespace for each replica, so that
// one can be cut off without anybody being told.
type network struct {
	// name of the bridge, and the beginning of those of namespaces and links.
	name string
	// subnet is the third byte of its addresses.
	subnet int
	spaces int
}

// subnets are tried in turn, from one that depends on the process.
const subnets = 250

// makeNetwork makes the bridge, with an address of this machine.
func makeNetwork(ctx context.Context) (*network, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("cutting replicas off takes network namespaces, and those take root: run as root, or without it with -blows 0")
	}
	n := &network{name: fmt.Sprintf("fl-%d", os.Getpid())}
	for try := range subnets {
		n.subnet = (os.Getpid() + try) % subnets
		routes, err := ip(ctx, "-o", "route", "show", "root", n.address(0)+"/24")
		if err != nil {
			return nil, err
		}
		if routes == "" {
			break
		}
		if try == subnets-1 {
			return nil, errors.New("no subnet of 10.253.0.0/16 is free: end what made its routes")
		}
	}
	err := all(ctx, [][]string{
		{"link", "add", n.name, "type", "bridge"},
		{"addr", "add", n.host() + "/24", "dev", n.name},
		{"link", "set", n.name, "up"},
	})
	if err != nil {
		return nil, errors.Join(err, n.remove(ctx))
	}
	return n, nil
}

func (n *network) address(host int) string { return fmt.Sprintf("10.253.%d.%d", n.subnet, host) }

// host is this machine's address.
func (n *network) host() string { return n.address(1) }

// space is the address of a namespace, counted from 1.
func (n *network) space(i int) string { return n.address(10 + i) }

func (n *network) spaceName(i int) string { return n.name + "-" + strconv.Itoa(i) }

// prefix makes a command run in a namespace.
func (n *network) prefix(i int) []string {
	return []string{"nsenter", "--net=/run/netns/" + n.spaceName(i)}
}

// add makes one more namespace, and returns its number.
func (n *network) add(ctx context.Context) (int, error) {
	n.spaces++
	name := n.spaceName(n.spaces)
	return n.spaces, all(ctx, [][]string{
		{"netns", "add", name},
		{"-n", name, "link", "set", "lo", "up"},
		{"link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name},
		{"link", "set", name, "master", n.name},
		{"link", "set", name, "up"},
		{"-n", name, "addr", "add", n.space(n.spaces) + "/24", "dev", "eth0"},
		{"-n", name, "link", "set", "eth0", "up"},
	})
}

// cut drops whatever a namespace sends and should get, from now on.
func (n *network) cut(ctx context.Context, i int) error {
	return all(ctx, [][]string{{"link", "set", n.spaceName(i), "down"}})
}

func (n *network) mend(ctx context.Context, i int) error {
	return all(ctx, [][]string{{"link", "set", n.spaceName(i), "up"}})
}

// remove removes all of it, as far as it is there. The links go with their namespaces.
func (n *network) remove(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for i := 1; i <= n.spaces; i++ {
		_, link := ip(ctx, "link", "del", n.spaceName(i)) // at once; with the namespace it takes a moment
		_, space := ip(ctx, "netns", "del", n.spaceName(i))
		errs = append(errs, link, space)
	}
	_, bridge := ip(ctx, "link", "del", n.name)
	return errors.Join(append(errs, bridge)...)
}

func all(ctx context.Context, commands [][]string) error {
	for _, args := range commands {
		if _, err := ip(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func ip(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput() // #nosec G204 -- arguments of this package
	if err != nil {
		return "", fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
