package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const cleanTimeout = 30 * time.Second

// runtimeDirs are rebuilt at each start: the objects in the API are the truth,
// and kubelet makes their pods again.
var runtimeDirs = []string{"addresses", "cni", "containerd", "kubelet", "pod-logs", "private", "volume-plugins"}

// clean removes everything of the node but its directory. What is gone already
// is no error: it also runs after a crash.
func (n *Node) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	// Mounts end with the last process in the mount namespace, and control groups
	// can only be removed when empty: so processes come first.
	if err := n.endProcesses(ctx); err != nil {
		return err
	}
	errs := []error{n.removeCgroups(ctx), n.leave(func() error { return n.removeNetwork(ctx) })}
	for _, dir := range runtimeDirs {
		errs = append(errs, os.RemoveAll(filepath.Join(n.dir, dir)))
	}
	return errors.Join(errs...)
}

// endProcesses kills what runs in the node's network (containerd's shims) or in
// its control groups (containers), until nothing does.
func (n *Node) endProcesses(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		pids, err := n.processes()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d of the node: %w", pid, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes %v of the node do not end: %w", pids, ctx.Err())
		case <-tick.C:
		}
	}
}

// processes lists the node's processes. Zombies have neither a network nor a
// control group and are not among them.
func (n *Node) processes() ([]int, error) {
	pids, err := n.processesInNetwork()
	if err != nil {
		return nil, err
	}
	for _, dir := range n.cgroups() {
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.Name() != "cgroup.procs" {
				return ignoreGone(err)
			}
			data, err := os.ReadFile(path) // #nosec G304 G122 -- a path of the kernel's
			if err != nil {
				return ignoreGone(err)
			}
			for _, word := range strings.Fields(string(data)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list processes of the node's control groups: %w", err)
		}
	}
	return pids, nil
}

func (n *Node) processesInNetwork() ([]int, error) {
	network, err := os.Stat(n.namespaceFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the node's network namespace: %w", err)
	}
	links, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, link := range links {
		info, err := os.Stat(link)
		if err != nil || !os.SameFile(info, network) {
			continue // ended meanwhile, or elsewhere
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}
