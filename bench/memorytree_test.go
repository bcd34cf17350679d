package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// memoryEvery is how often the memory of a program and its children is read.
const memoryEvery = 100 * time.Millisecond

// watched is the memory of a program and of the processes that it started.
type watched struct{ peak atomic.Int64 }

// MiB is the most that they had at a time.
func (m *watched) MiB() float64 { return float64(m.peak.Load()) / 1024 }

// reset begins anew.
func (m *watched) reset() { m.peak.Store(0) }

// watchMemory adds up the resident memory of a program and its children until the benchmark
// ends. What they share, as the text of the program, counts in each.
func (w *world) watchMemory(r *running) *watched {
	m := &watched{}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				m.peak.Store(max(m.peak.Load(), residentTree(r.PID())))
			}
		}
	}()
	w.tb.Cleanup(func() { close(ended); <-stopped })
	return m
}

// residentTree is the resident memory of a process and of those below it, in KiB. A process
// that has just ended has none.
func residentTree(pid int) int64 {
	var sum int64
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		if m, err := parseMemory(status); err == nil {
			sum = int64(m.resident * 1024)
		}
	}
	for _, child := range childrenOf(pid) {
		sum += residentTree(child)
	}
	return sum
}

// childrenOf lists the processes that the threads of a process started.
func childrenOf(pid int) []int {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var children []int
	for _, thread := range threads {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
