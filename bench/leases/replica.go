package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// replica is one `fairlead api`, which the run starts, harms and starts again.
type replica struct {
	name string
	url  string
	// link is where its network is cut; 0 when it is this machine's.
	link    int
	command []string
	log     string
	// ended is told when it ends without being killed.
	ended func(error)

	mu      sync.Mutex
	process *os.Process // nil while it does not run
	done    chan struct{}
	killed  bool
}

// start starts the program, which must not run.
func (r *replica) start() error {
	log, err := os.OpenFile(r.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", r.name, err)
	}
	cmd := exec.Command(r.command[0], r.command[1:]...) // #nosec G204 -- the program that this one is for
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, done := make(chan error), make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = log.Close() }()
		r.run(cmd, started)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", r.name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process, r.done, r.killed = cmd.Process, done, false
	return nil
}

// run stays on one thread: a child gets its death signal when the thread that forked it
// ends.
func (r *replica) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	err := cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.killed {
		r.ended(fmt.Errorf("%s ended by itself: %w (log: %s)", r.name, errors.Join(err, errors.New(cmd.ProcessState.String())), filepath.Base(r.log)))
	}
}

// signal stops the program or lets it go on.
func (r *replica) signal(s syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		return nil
	}
	if err := r.process.Signal(s); err != nil {
		return fmt.Errorf("%s %s: %w", s, r.name, err)
	}
	return nil
}

// halt stops the program, and waits until none of its threads runs any more.
func (r *replica) halt(ctx context.Context) error {
	if err := r.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		stopped, err := r.stopped()
		if stopped || err != nil {
			return err
		}
		if err := linger(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

func (r *replica) stopped() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		return false, fmt.Errorf("stop %s: it does not run", r.name)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", r.process.Pid))
	if err != nil {
		return false, fmt.Errorf("find the threads of %s: %w", r.name, err)
	}
	for _, file := range threads {
		stat, err := os.ReadFile(file) // #nosec G304 -- of the kernel
		if err != nil {
			return false, fmt.Errorf("look at a thread of %s: %w", r.name, err)
		}
		// The state follows the name, which may have any character.
		if _, state, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " "); !strings.HasPrefix(state, "T") {
			return false, nil
		}
	}
	return true, nil
}

// kill ends the program without any warning, and waits until it is gone.
func (r *replica) kill(ctx context.Context) error {
	r.mu.Lock()
	process, done := r.process, r.done
	r.process, r.killed = nil, true
	r.mu.Unlock()
	if process == nil {
		return nil
	}
	if err := process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", r.name, err)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
