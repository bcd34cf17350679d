package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memory of a process, in MiB.
type memory struct {
	// resident now, and the most it ever was.
	resident, peak float64
}

// memory asks the kernel.
func (w *world) memory(r *running) memory {
	w.tb.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.PID()))
	w.must("read the memory of a process", err)
	m, err := parseMemory(data)
	w.must("read the memory of a process", err)
	return m
}

func parseMemory(status []byte) (memory, error) {
	values, err := memoryValues(status, "VmRSS", "VmHWM")
	return memory{resident: float64(values["VmRSS"]) / 1024, peak: float64(values["VmHWM"]) / 1024}, err
}

// memoryValues are those that the kernel tells of a process by these names, in KiB.
func memoryValues(status []byte, names ...string) (map[string]int64, error) {
	values := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if !slices.Contains(names, name) {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s of a process: %w", name, err)
		}
		values[name] = kib
	}
	if len(values) != len(names) {
		return nil, fmt.Errorf("not all of %q in %q", names, status)
	}
	return values, nil
}

// clockTicks are those of a second in what the kernel tells of processes.
const clockTicks = 100

// busy is the processor time that a process has used.
func (w *world) busy(r *running) time.Duration {
	w.tb.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.PID()))
	w.must("read the processor time of a process", err)
	ticks, err := parseTicks(string(data))
	w.must("read the processor time of a process", err)
	return time.Duration(ticks) * time.Second / clockTicks
}

// parseTicks adds up utime and stime, the 14th and 15th field; the second one, a name
// in parentheses, may hold anything.
func parseTicks(stat string) (int64, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("no processor time in %q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return user + system, err
}

func TestParseTicks(t *testing.T) {
	got, err := parseTicks("7 (a) b) S 1 7 7 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 9 0 100 1 2")
	if err != nil || got != 300 {
		t.Errorf("%d ticks, error %v; want 300", got, err)
	}
}

func TestParseMemory(t *testing.T) {
	got, err := parseMemory([]byte("Name:\tfairlead\nVmPeak:\t 1269064 kB\nVmHWM:\t   71680 kB\nVmRSS:\t   51200 kB\nThreads:\t9\n"))
	if want := (memory{resident: 50, peak: 70}); err != nil || got != want {
		t.Errorf("memory %+v, error %v; want %+v", got, err, want)
	}
	if _, err := parseMemory([]byte("Name:\tzombie\n")); err == nil {
		t.Error("a process without memory has some")
	}
}
