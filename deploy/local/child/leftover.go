package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	recordSuffix = ".json"
	pollEvery    = 20 * time.Millisecond
)

// record tells a process from another one that got the same pid later.
type record struct {
	PID int `json:"pid"`
	// Started is the start time in clock ticks since boot.
	Started string `json:"started"`
	// Boot is the id of the boot that Started counts from.
	Boot string `json:"boot"`
}

// EndLeftovers ends the children that a former run of the group left behind,
// and waits until they are gone.
func (g *Group) EndLeftovers(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(g.runDir, "*"+recordSuffix))
	if err != nil {
		return fmt.Errorf("list child processes of the former run: %w", err)
	}
	var alive []record
	for _, file := range files {
		rec, err := readRecord(file)
		if err != nil {
			return err
		}
		if rec.alive() {
			alive = append(alive, rec)
		}
	}
	if err := endAll(ctx, alive); err != nil {
		return fmt.Errorf("end child processes of the former run: %w", err)
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}

// endAll asks all processes to end and kills those that do not. They get little
// time: what they depend on may be gone already.
func endAll(ctx context.Context, alive []record) error {
	for _, rec := range alive {
		if err := signalGroup(rec.PID, syscall.SIGTERM); err != nil {
			return err
		}
	}
	soft, cancel := context.WithTimeout(ctx, failedGrace)
	defer cancel()
	for _, rec := range alive {
		if rec.waitGone(soft) == nil {
			continue
		}
		if err := signalGroup(rec.PID, syscall.SIGKILL); err != nil {
			return err
		}
		if err := rec.waitGone(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r record) waitGone(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for r.alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d is still there: %w", r.PID, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// alive says whether the very process of the record still runs.
func (r record) alive() bool {
	now, err := identify(r.PID)
	return err == nil && now == r
}

// identify reads what makes a running process unique. A zombie has ended.
func identify(pid int) (record, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return record{}, fmt.Errorf("read boot id: %w", err)
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return record{}, fmt.Errorf("read state of process %d: %w", pid, err)
	}
	// The command in parentheses may hold blanks; the start time is field 22,
	// the state the first one after the command.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return record{}, fmt.Errorf("state of process %d is cut short: %q", pid, text)
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return record{}, fmt.Errorf("process %d has ended", pid)
	}
	return record{PID: pid, Started: fields[19], Boot: strings.TrimSpace(string(boot))}, nil
}

// writeRecord notes a process. One that has ended already needs no note.
func writeRecord(path string, pid int) error {
	rec, err := identify(pid)
	if err != nil {
		return nil //nolint:nilerr // whoever waits for it reports its end
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("record process %d: %w", pid, err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("record process %d: %w", pid, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("record process %d: %w", pid, err)
	}
	return nil
}

func readRecord(path string) (record, error) {
	var rec record
	data, err := os.ReadFile(path) // #nosec G304 -- a path of the state directory
	if err != nil {
		return rec, fmt.Errorf("read record of a former child: %w", err)
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, fmt.Errorf("record of a former child %s is damaged, remove it: %w", path, err)
	}
	return rec, nil
}
