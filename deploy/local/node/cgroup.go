package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// cgroups are the node's control groups, one in each hierarchy of the machine.
// Everything that kubelet makes is below them.
func (n *Node) cgroups() []string {
	hierarchies, err := hierarchies(mountInfo)
	if err != nil {
		return nil // makeCgroups has told
	}
	var dirs []string
	for _, h := range hierarchies {
		dirs = append(dirs, filepath.Join(h, n.name))
	}
	return dirs
}

func (n *Node) makeCgroups() error {
	if _, err := hierarchies(mountInfo); err != nil {
		return err
	}
	for _, dir := range n.cgroups() {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("make the node's control group: %w", err)
		}
	}
	return nil
}

// removeCgroups removes the node's control groups, the deepest first. One whose
// last process has only just ended is busy for a moment.
func (n *Node) removeCgroups(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for _, root := range n.cgroups() {
		for {
			err := removeTree(root)
			if err == nil {
				break
			}
			if !errors.Is(err, syscall.EBUSY) {
				return fmt.Errorf("remove the node's control group: %w", err)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("remove the node's control group: %w (last answer: %w)", ctx.Err(), err)
			case <-tick.C:
			}
		}
	}
	return nil
}

func removeTree(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return ignoreGone(err)
	})
	if err != nil {
		return fmt.Errorf("list control groups: %w", err)
	}
	for _, dir := range slices.Backward(dirs) {
		// Rmdir, not Remove: the files in it are the kernel's.
		if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
			return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
	return nil
}

// hierarchies are the mount points of cgroup v1 controllers and of cgroup v2.
func hierarchies(file string) ([]string, error) {
	mounts, err := readMounts(file)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range mounts {
		if m.kind == "cgroup" || m.kind == "cgroup2" {
			found = append(found, m.point)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no control groups are mounted: a node needs them under /sys/fs/cgroup")
	}
	return found, nil
}
