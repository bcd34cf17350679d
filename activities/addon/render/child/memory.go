package child

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

// lookEvery is how often the memory of a child is looked at: it takes 100 MiB in that time.
const lookEvery = 25 * time.Millisecond

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the memory in bytes that a process has held at most, and 0 once it has ended.
func (p *process) peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	found := highWater.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// watch calls exceeded once the process holds more than most, until ctx ends. A limit of the
// address space would not do: the runtime reserves much more than it uses.
func (p *process) watch(ctx context.Context, most int64, exceeded func()) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if p.peak() > most {
				exceeded()
				return
			}
		}
	}
}
