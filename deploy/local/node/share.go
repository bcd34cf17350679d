package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// shareDir notes how the machine was before its first node, and which nodes there
// are: the last one to leave restores what they share. It ends with the boot, as
// the changes do.
const shareDir = "/run/fairlead"

var (
	machineFile = filepath.Join(shareDir, "machine.json")
	nodesDir    = filepath.Join(shareDir, "nodes")
)

// join counts the node among those of the machine and makes its network. Both
// happen under one lock, so that a node without a network is one that crashed.
func (n *Node) join(makeNetwork func() error) error {
	return locked(func() error {
		others, err := n.others()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(nodesDir, 0o700); err != nil {
			return fmt.Errorf("count the node: %w", err)
		}
		if len(others) == 0 {
			if err := noteMachine(); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(nodesDir, n.name), nil, 0o600); err != nil {
			return fmt.Errorf("count the node: %w", err)
		}
		return makeNetwork()
	})
}

// leave removes the node's network and, after the last node, what nodes changed.
// It may be called for a node that never joined.
func (n *Node) leave(removeNetwork func() error) error {
	return locked(func() error {
		if err := removeNetwork(); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(nodesDir, n.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("no longer count the node: %w", err)
		}
		others, err := n.others()
		if err != nil || len(others) > 0 {
			return err
		}
		if err := restoreMachine(); err != nil {
			return err
		}
		if err := os.RemoveAll(shareDir); err != nil {
			return fmt.Errorf("forget how the machine was: %w", err)
		}
		return nil
	})
}

// others are the other nodes of this machine.
func (n *Node) others() ([]string, error) {
	entries, err := os.ReadDir(nodesDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the nodes of this machine: %w", err)
	}
	var names []string
	for _, e := range entries {
		_, err := os.Stat(filepath.Join(namespaceDir, e.Name()))
		if e.Name() != n.name && err == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// locked calls f while no other process of this machine is in here. The lock is
// on a directory that is always there, so that no lock file is left behind.
func locked(f func() error) error {
	dir, err := os.Open(filepath.Dir(shareDir))
	if err != nil {
		return fmt.Errorf("lock the machine's nodes: %w", err)
	}
	defer func() { _ = dir.Close() }()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the machine's nodes: %w", err)
	}
	return f()
}
