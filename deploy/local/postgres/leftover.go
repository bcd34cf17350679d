package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// memoryLine of postmaster.pid has the key and the id of the shared memory that all
// processes of a server hold on to.
const memoryLine = 6

// Remove removes dir and what a killed server, which must not run any more, left elsewhere.
func Remove(ctx context.Context, dir string) error {
	data := Options{Dir: dir}.data()
	if err := waitAbandoned(ctx, data); err != nil {
		return err
	}
	id, found, err := memory(data)
	if err != nil {
		return err
	}
	if found {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			return fmt.Errorf("remove shared memory %d of PostgreSQL: %w", id, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove PostgreSQL's data: %w", err)
	}
	return nil
}

// waitAbandoned waits until the sessions of a killed server have ended, which they do by
// themselves: until then no other one starts on their data.
func waitAbandoned(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		id, found, err := memory(data)
		if err != nil || !found || !attached(id) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes of a former PostgreSQL server still use %s: %w", data, ctx.Err())
		case <-tick.C:
		}
	}
}

// memory is the id of the shared memory that a killed server left; one that ended in order
// removed it, and the file that names it.
func memory(data string) (id int, found bool, err error) {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid")) // #nosec G304 -- of the data directory
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look for a former PostgreSQL server: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) <= memoryLine {
		return 0, false, nil // it was killed before it had any
	}
	fields := strings.Fields(lines[memoryLine])
	if len(fields) != 2 {
		return 0, false, nil
	}
	if id, err = strconv.Atoi(fields[1]); err != nil {
		return 0, false, fmt.Errorf("read which shared memory a former PostgreSQL server had: %w", err)
	}
	var segment unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment); err != nil {
		return 0, false, nil //nolint:nilerr // after a boot there is none, or somebody else's
	}
	return id, true, nil
}

func attached(id int) bool {
	var segment unix.SysvShmDesc
	_, err := unix.SysvShmCtl(id, unix.IPC_STAT, &segment)
	return err == nil && segment.Nattch > 0
}
