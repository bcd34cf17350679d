// Package life lets one process prove to others, through the kernel, that it is
// alive: with record locks on a file, which no recycled pid can hold and which end
// with the process however it ends.
package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrAlive is returned where a living process holds the file.
var ErrAlive = errors.New("a process holds the lock file")

// The bytes of the file that are locked. The kernel locks ranges whether or not
// the file has them.
const (
	aliveByte = iota
	listeningByte
)

// note is what a process writes into the file as its first act.
type note struct {
	PID     int       `json:"pid"`
	BootID  string    `json:"bootID"`
	Started time.Time `json:"started"`
}

// Life is the lock of a living process.
type Life struct{ file *os.File }

// Begin locks the file at path, which must be there, for this process. It fails
// with ErrAlive when another process holds it. A process may begin one life only
// once: the kernel drops its locks when it closes any descriptor of the file.
func Begin(path string) (*Life, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- the file named on the command line
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	l := &Life{file: f}
	if err := l.begin(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *Life) begin(path string) error {
	if err := l.lock(aliveByte); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	// The file may have been removed between open and lock. Whoever removes it
	// holds the lock, so once this looks right it stays right.
	if err := sameFile(l.file, path); err != nil {
		return err
	}
	boot, err := BootID()
	if err != nil {
		return err
	}
	data, err := json.Marshal(note{PID: os.Getpid(), BootID: boot, Started: time.Now()})
	if err != nil {
		return fmt.Errorf("write lock file %s: %w", path, err)
	}
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if _, err := l.file.WriteAt(append(data, '\n'), 0); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

// Listening tells the others that this process now serves.
func (l *Life) Listening() error {
	if err := l.lock(listeningByte); err != nil {
		return fmt.Errorf("mark %s as listening: %w", l.file.Name(), err)
	}
	return nil
}

// End gives the lock up. Until then l must stay reachable: the garbage collector
// closes files.
func (l *Life) End() error { return l.file.Close() }

// lock takes a lock of the process: unlike one of the open file, the kernel tells
// others its pid.
func (l *Life) lock(at int64) error {
	return setLock(l.file, unix.F_SETLK, at)
}

func setLock(f *os.File, command int, at int64) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	err := unix.FcntlFlock(f.Fd(), command, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrAlive
	}
	return err
}

func sameFile(f *os.File, path string) error {
	opened, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at lock file: %w", err)
	}
	there, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at lock file: %w", err)
	}
	if !os.SameFile(opened, there) {
		return fmt.Errorf("lock file %s was replaced: %w", path, os.ErrNotExist)
	}
	return nil
}

// Signs are what others see of a process.
type Signs struct {
	// PID of the living process; 0 when there is none.
	PID int
	// Listening says that the living process serves.
	Listening bool
	// BootID of the machine when the last process began; empty when none ever did.
	BootID string
	// Started is when the last process began.
	Started time.Time
}

// Look reads the signs of the process whose lock file is at path.
func Look(path string) (Signs, error) {
	f, err := os.Open(path) // #nosec G304 -- a path of the state directory
	if err != nil {
		return Signs{}, fmt.Errorf("open lock file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	pid, err := holder(f, aliveByte)
	if err != nil {
		return Signs{}, err
	}
	listening, err := holder(f, listeningByte)
	if err != nil {
		return Signs{}, err
	}
	s := Signs{PID: pid, Listening: pid != 0 && listening == pid}
	data, err := io.ReadAll(f)
	if err != nil {
		return Signs{}, fmt.Errorf("read lock file: %w", err)
	}
	var n note
	if json.Unmarshal(data, &n) == nil { // a process may be killed in the middle of writing it
		s.BootID, s.Started = n.BootID, n.Started
	}
	return s, nil
}

// holder asks the kernel which process has locked a byte; 0 for none.
func holder(f *os.File, at int64) (int, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("ask who locked %s: %w", f.Name(), err)
	}
	switch {
	case lock.Type == unix.F_UNLCK:
		return 0, nil
	case lock.Pid == -1: // seized: nothing lives here
		return 0, nil
	case lock.Pid == 0:
		return 0, fmt.Errorf("%s is locked by a process of another pid namespace", f.Name())
	}
	return int(lock.Pid), nil
}

// Seize keeps any process from beginning a life at path until release is called;
// it fails with ErrAlive when one has. What the last process wrote is forgotten.
func Seize(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	// A lock of the open file survives a Look at the same file by this process.
	if err := setLock(f, unix.F_OFD_SETLK, aliveByte); err != nil {
		return nil, errors.Join(fmt.Errorf("seize %s: %w", path, err), f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(fmt.Errorf("clear lock file: %w", err), f.Close())
	}
	return f.Close, nil
}

// BootID names the time between two boots of this machine.
func BootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
