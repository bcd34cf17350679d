//go:build node

package main

import (
	"context"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/internal/eventually"
)

// reaches says whether a namespace gets a connection to this machine.
func reaches(t *testing.T, n *network, space int, l net.Listener) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	line := slices.Concat(n.prefix(space), []string{"bash", "-c", "exec 3<>/dev/tcp/" + host + "/" + port})
	return exec.CommandContext(ctx, line[0], line[1:]...).Run() == nil
}

func TestNodeANamespaceThatIsCutOffReachesNobody(t *testing.T) {
	n, err := makeNetwork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	removed := false
	t.Cleanup(func() {
		if !removed {
			_ = n.remove(context.Background())
		}
	})
	l, err := net.Listen("tcp", n.host()+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var spaces []int
	for range 2 {
		space, err := n.add(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		spaces = append(spaces, space)
	}
	both := func(first, second bool, when string) {
		t.Helper()
		if got := reaches(t, n, spaces[0], l); got != first {
			t.Errorf("%s, the first namespace reaches this machine: %t", when, got)
		}
		if got := reaches(t, n, spaces[1], l); got != second {
			t.Errorf("%s, the second namespace reaches this machine: %t", when, got)
		}
	}
	both(true, true, "at first")
	if err := n.cut(t.Context(), spaces[0]); err != nil {
		t.Fatal(err)
	}
	both(false, true, "once the first is cut off")
	if err := n.mend(t.Context(), spaces[0]); err != nil {
		t.Fatal(err)
	}
	eventually.Within(t, "the first namespace reaches this machine again", 20*time.Second, func() bool { return reaches(t, n, spaces[0], l) })
	removed = true
	if err := n.remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := ip(t.Context(), "-o", "link", "show")
	if err != nil || strings.Contains(left, n.name) {
		t.Errorf("%v: something is left of %s:\n%s", err, n.name, left)
	}
}
