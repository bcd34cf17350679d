package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memoryEvery is how often the memory of a program and its children is read.
const memoryEvery = 100 * time.Millisecond

// watched is the memory of a program and of the processes that it started.
type watched struct {
	mu   sync.Mutex
	peak treeMemory
}

// treeMemory is that of processes at one time, or the most of each part, in KiB.
type treeMemory struct {
	// resident adds up all that each has; what they share counts in each.
	resident int64
	// own adds up what is in no file, and file is the most that one of them has of files: of the
	// program's text, which they share.
	own, file int64
}

// MiB is the most that they had at a time, with what they share counted once.
func (m *watched) MiB() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return float64(m.peak.own+m.peak.file) / 1024
}

// residentMiB counts what they share in each of them.
func (m *watched) residentMiB() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return float64(m.peak.resident) / 1024
}

// reset begins anew.
func (m *watched) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = treeMemory{}
}

func (m *watched) see(now treeMemory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak.resident = max(m.peak.resident, now.resident)
	m.peak.own = max(m.peak.own, now.own)
	m.peak.file = max(m.peak.file, now.file)
}

// watchMemory reads the memory of a program and its children until the benchmark ends.
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
				m.see(memoryOfTree(r.PID()))
			}
		}
	}()
	w.tb.Cleanup(func() { close(ended); <-stopped })
	return m
}

// memoryOfTree is that of a process and of those below it. One that has just ended has none.
func memoryOfTree(pid int) treeMemory {
	var sum treeMemory
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		if values, err := memoryValues(status, "VmRSS", "RssAnon", "RssShmem", "RssFile"); err == nil {
			sum = treeMemory{resident: values["VmRSS"], own: values["RssAnon"] + values["RssShmem"], file: values["RssFile"]}
		}
	}
	for _, child := range childrenOf(pid) {
		below := memoryOfTree(child)
		sum.resident += below.resident
		sum.own += below.own
		sum.file = max(sum.file, below.file)
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
