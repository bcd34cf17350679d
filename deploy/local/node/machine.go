package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelSettings are those that kubelet sets for the whole machine.
var kernelSettings = []string{
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"kernel/panic",
	"kernel/panic_on_oops",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
}

// machine is how the machine was before its first node.
type machine struct {
	Settings map[string]string `json:"settings"`
	// MadeDirs did not exist: mount points of privateDirs.
	MadeDirs []string `json:"madeDirs"`
	// NamespaceMount says that namespaceDir was mounted; iproute2 does that, once
	// and for good, when it makes the first network namespace of the machine.
	NamespaceMount bool `json:"namespaceMount"`
}

// noteMachine writes down how the machine is, then makes the mount points.
func noteMachine() error {
	m := machine{Settings: map[string]string{}}
	for _, name := range kernelSettings {
		value, err := os.ReadFile(settingFile(name))
		if errors.Is(err, os.ErrNotExist) {
			continue // not in this kernel
		}
		if err != nil {
			return fmt.Errorf("read kernel setting: %w", err)
		}
		m.Settings[name] = strings.TrimSpace(string(value))
	}
	for _, dir := range privateDirs {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			m.MadeDirs = append(m.MadeDirs, dir)
		}
	}
	var err error
	if m.NamespaceMount, err = mounted(namespaceDir); err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("note the machine's settings: %w", err)
	}
	if err := os.WriteFile(machineFile, data, 0o600); err != nil {
		return fmt.Errorf("note the machine's settings: %w", err)
	}
	for _, dir := range m.MadeDirs {
		if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- what the packages would make
			return fmt.Errorf("make mount point: %w", err)
		}
	}
	return nil
}

// restoreMachine undoes noteMachine and what kubelet set.
func restoreMachine() error {
	data, err := os.ReadFile(machineFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the machine's former settings: %w", err)
	}
	var m machine
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("read the machine's former settings: %s is damaged, remove it: %w", machineFile, err)
	}
	for name, value := range m.Settings {
		if err := restoreSetting(name, value); err != nil {
			return err
		}
	}
	for _, dir := range m.MadeDirs {
		// A directory that somebody uses by now stays.
		_ = os.Remove(dir)
	}
	if m.NamespaceMount {
		return nil
	}
	return unmountNamespaceDir()
}

// unmountNamespaceDir undoes what iproute2 did, unless others have namespaces
// there by now.
func unmountNamespaceDir() error {
	isMount, err := mounted(namespaceDir)
	if err != nil || !isMount {
		return err
	}
	others, err := os.ReadDir(namespaceDir)
	if err != nil {
		return fmt.Errorf("look for network namespaces: %w", err)
	}
	if len(others) > 0 {
		return nil
	}
	if err := unix.Unmount(namespaceDir, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", namespaceDir, err)
	}
	return nil
}

// mounted says whether something is mounted on a directory.
func mounted(dir string) (bool, error) {
	mounts, err := readMounts(mountInfo)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(mounts, func(m mount) bool { return m.point == dir }), nil
}

func restoreSetting(name, value string) error {
	now, err := os.ReadFile(settingFile(name))
	if err != nil {
		return fmt.Errorf("read kernel setting: %w", err)
	}
	if strings.TrimSpace(string(now)) == value {
		return nil
	}
	if err := os.WriteFile(settingFile(name), []byte(value), 0o600); err != nil {
		return fmt.Errorf("restore kernel setting: %w", err)
	}
	return nil
}

func settingFile(name string) string { return filepath.Join("/proc/sys", name) }
