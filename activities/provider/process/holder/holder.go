// Package holder tells which process listens on a TCP address.
package holder

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// stateListen is TCP_LISTEN in /proc/net/tcp.
const stateListen = "0A"

// Holder is a process that listens on an address.
type Holder struct {
	PID     int
	Command string
}

// Find tells who listens on an address, nil when nobody can be found: the
// process may belong to another user or live in another pid namespace.
func Find(address string) (*Holder, error) {
	want, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("find who listens on %q: %w", address, err)
	}
	want = netip.AddrPortFrom(want.Addr().Unmap(), want.Port())
	inodes := map[string]bool{}
	// /proc/net is that of the program's first thread, which may be in another
	// network namespace than the caller.
	for _, table := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
		if err := listening(table, want, inodes); err != nil {
			return nil, err
		}
	}
	if len(inodes) == 0 {
		return nil, nil
	}
	return ownerOf(inodes)
}

// listening adds the socket inodes of a table that are in the way of want: on its
// address and port, or on its port where either is for all addresses.
func listening(table string, want netip.AddrPort, inodes map[string]bool) error {
	f, err := os.Open(table) // #nosec G304 -- one of two constant paths
	if os.IsNotExist(err) {
		return nil // no IPv6 here
	}
	if err != nil {
		return fmt.Errorf("read listening sockets: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != stateListen {
			continue
		}
		local, err := parseHexAddrPort(fields[1])
		if err != nil {
			return fmt.Errorf("read listening sockets of %s: %w", table, err)
		}
		if local.Port() == want.Port() && (local.Addr() == want.Addr() || local.Addr().IsUnspecified() || want.Addr().IsUnspecified()) {
			inodes[fields[9]] = true
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read listening sockets of %s: %w", table, err)
	}
	return nil
}

// parseHexAddrPort reads the kernel's form: 32-bit words in the machine's byte
// order (little endian wherever Fairlead runs), then the port.
func parseHexAddrPort(s string) (netip.AddrPort, error) {
	host, port, found := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	if err != nil || !found || len(raw)%4 != 0 {
		return netip.AddrPort{}, fmt.Errorf("%q is no socket address", s)
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is no socket address", s)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}

// ownerOf finds a process that has one of the sockets open. Processes that end
// meanwhile or may not be looked at are passed over.
func ownerOf(inodes map[string]bool) (*Holder, error) {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil, fmt.Errorf("list open files: %w", err)
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil {
			continue
		}
		inode, isSocket := strings.CutPrefix(target, "socket:[")
		if !isSocket || !inodes[strings.TrimSuffix(inode, "]")] {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err != nil {
			continue
		}
		return &Holder{PID: pid, Command: commandOf(pid)}, nil
	}
	return nil, nil
}

// commandOf gives the command line of a process, cut to a readable length.
func commandOf(pid int) string {
	const longest = 120
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return "command unknown"
	}
	line := strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
	if len(line) > longest {
		line = line[:longest] + "…"
	}
	return line
}
