package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// instance is the directory of an instance, as the provider keeps it.
type instance struct {
	provider    string
	name        string
	dir         string
	namespace   string
	object      string
	uid         string
	incarnation int64
	// lifeFile is the base name of the lock file, which no two instances share.
	lifeFile string
	// place is the state directory with its identity, as ledgers name it.
	place string
}

// entry is what the ledger has of it.
func (i instance) entry() crawl.InstanceRecord {
	return crawl.InstanceRecord{Provider: i.provider, Place: i.place, Name: i.name, Incarnation: i.incarnation}
}

// readInstance reads one directory; found is false when it is not there, or going.
func readInstance(prov, stateDir, name string) (i instance, found bool) {
	i = instance{provider: prov, name: name, dir: filepath.Join(stateDir, name)}
	data, err := os.ReadFile(filepath.Join(i.dir, "instance.json")) // #nosec G304 -- a path of this run
	if err != nil {
		return i, false
	}
	var record struct {
		Owner       struct{ Namespace, Name, UID string }
		Incarnation int64
		LifeFile    string
	}
	if json.Unmarshal(data, &record) != nil {
		return i, false
	}
	i.namespace, i.object, i.uid = record.Owner.Namespace, record.Owner.Name, record.Owner.UID
	i.incarnation, i.lifeFile = record.Incarnation, record.LifeFile
	identity, _ := os.ReadFile(filepath.Join(stateDir, ".identity")) // #nosec G304 -- without one, no ledger has the place
	i.place = stateDir + "#" + strings.TrimSpace(string(identity))
	return i, true
}

// readInstances reads all directories of a provider.
func readInstances(prov, stateDir string) ([]instance, error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the instances of provider %s: %w", prov, err)
	}
	var all []instance
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if i, found := readInstance(prov, stateDir, e.Name()); found {
			all = append(all, i)
		}
	}
	return all, nil
}

// still says whether the very instance is there now.
func (i instance) still() bool {
	now, found := readInstance(i.provider, filepath.Dir(i.dir), i.name)
	return found && now.lifeFile == i.lifeFile
}

func (i instance) String() string {
	return fmt.Sprintf("instance %s of provider %s, incarnation %d (%s)", i.name, i.provider, i.incarnation, i.lifeFile)
}

// proxyProcess is a process that lives, by the kernel's word, whatever became of the
// directory that it was started for.
type proxyProcess struct {
	pid       int
	lifeFile  string // path, as on its command line
	listening bool
}

// name of the instance that it was started for.
func (p proxyProcess) name() string { return filepath.Base(filepath.Dir(p.lifeFile)) }

// forgetBoot makes the lock file of a process, which it wrote when it began, tell of
// another boot of the machine. It returns false when the file is gone.
func (p proxyProcess) forgetBoot() bool {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return false
	}
	note, err := os.ReadFile(p.lifeFile)
	if err != nil {
		return false
	}
	former := bytes.ReplaceAll(note, bytes.TrimSpace(boot), []byte("a-former-boot"))
	return os.WriteFile(p.lifeFile, former, 0o600) == nil // #nosec G703 -- a file of this run
}

// The bytes of its lock file that a process locks (package life).
const (
	aliveByte     = "0"
	listeningByte = "1"
)

// readProcesses asks the kernel which processes hold locks, and finds those that
// are proxies of this run.
func readProcesses(owner int) ([]proxyProcess, error) {
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil, fmt.Errorf("list the locks: %w", err)
	}
	var all []proxyProcess
	for pid, listening := range parseLocks(data) {
		if path, ok := lifeFileOf(pid, owner); ok {
			all = append(all, proxyProcess{pid: pid, lifeFile: path, listening: listening})
		}
	}
	return all, nil
}

// parseLocks finds, in the text of /proc/locks, the processes that hold the lock of
// the living, and says whether they hold that of the listening too.
func parseLocks(text []byte) map[int]bool {
	alive, listening := map[int]bool{}, map[int]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		pid, first, last := parseLock(lines.Text())
		if pid == 0 {
			continue
		}
		alive[pid] = alive[pid] || first == aliveByte
		listening[pid] = listening[pid] || last == listeningByte
	}
	found := map[int]bool{}
	for pid, yes := range alive {
		if yes {
			found[pid] = listening[pid]
		}
	}
	return found
}

// parseLock reads a line such as
//
//	1: POSIX  ADVISORY  WRITE 14425 fe:00:10945169 0 1
//
// pid is 0 when it tells of another kind of lock, or of somebody who waits.
func parseLock(line string) (pid int, first, last string) {
	f := strings.Fields(line)
	if len(f) != 8 || f[1] != "POSIX" || f[3] != "WRITE" {
		return 0, "", ""
	}
	pid, err := strconv.Atoi(f[4])
	if err != nil || pid < 0 {
		return 0, "", ""
	}
	return pid, f[6], f[7]
}

// lifeFileOf is the lock file on the command line of a proxy of this run.
func lifeFileOf(pid, owner int) (string, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return "", false
	}
	args := strings.Split(string(data), "\x00")
	if len(args) < 3 || args[1] != roleProxy || args[2] != strconv.Itoa(owner) {
		return "", false
	}
	for _, a := range args {
		if path, ok := strings.CutPrefix(a, "--lock-file="); ok {
			return path, true
		}
	}
	return "", false
}
