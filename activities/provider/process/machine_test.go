package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ended says whether a process is gone or waits to be reaped.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	return strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") Z")
}

// fullDisk mounts a file system without room.
func fullDisk(t *testing.T, before func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Fatalf("mount a small file system (this test needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	before(dir)
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = fill.Close() }()
	for {
		if _, err := fill.Write(make([]byte, 1024)); err != nil {
			return dir
		}
	}
}

// proxies counts the processes that were started for a state directory.
func proxies(t *testing.T, stateDir string) int {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(command), "--lock-file="+stateDir) {
			n++
		}
	}
	return n
}
