package child_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/activities/addon/render/child"
	"example.com/fairlead/internal/eventually"
)

func TestManyRendersTakeFewChildrenAndLeaveNothing(t *testing.T) {
	before := openFiles(t)
	r := newRenderer(t, func(r *child.Renderer) { r.Renders, r.Idle = 100, 200*time.Millisecond })
	archive, req := chartOf(t, configMap), request(t, nil)
	seen := map[int]bool{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			for range 100 {
				if _, _, _, err := r.Chart(t.Context(), archive, req); err != nil {
					t.Error(err)
				}
				pids := children(t)
				if len(pids) > 4 { // two that render, and those that are being replaced
					t.Errorf("children %v are there at once", pids)
				}
				mu.Lock()
				for _, pid := range pids {
					seen[pid] = true
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(seen) < 5 || len(seen) > 7 {
		t.Errorf("500 renders, 100 a child, took %d children", len(seen))
	}
	eventually.Within(t, "idle children end", 10*time.Second, func() bool { return len(children(t)) == 0 })
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

func TestAChildThatHasGrownIsReplaced(t *testing.T) {
	large := chartOf(t, `{{ $d := dict }}{{ range $i := until 500 }}{{ $_ := set $d (toString $i) (repeat 100000 "x") }}{{ end }}`+configMap)
	render := func(maxMemory int64) {
		t.Helper()
		r := newRenderer(t, func(r *child.Renderer) { r.MaxMemory = maxMemory })
		if _, _, _, err := r.Chart(t.Context(), large, request(t, nil)); err != nil {
			t.Fatal(err)
		}
	}
	render(4 << 30)
	pid := onlyChild(t)
	took := peak(t, pid)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "it is gone", func() bool { return len(children(t)) == 0 })
	render(took * 3 / 2)
	if left := children(t); len(left) > 0 {
		t.Errorf("children %v are kept, of at most %d bytes where such a one took %d", left, took*3/2, took)
	}
}

// peak is the memory in bytes that a process has held at most.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
