package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// program keeps one child of ours running: it is started again whenever it ends,
// as by whatever runs it in an installation.
type program struct {
	role     string
	settings string // file
	log      string // file
	// pauses before it is started again.
	pauses *dice.Dice

	mu      sync.Mutex
	process *os.Process // nil while it does not run
	starts  int
	crashes int // by a fault
	done    chan struct{}
}

// startProgram runs a role until ctx ends.
func startProgram(ctx context.Context, dir, name, role string, s roleSettings) (*program, error) {
	p := &program{
		role:     role,
		settings: filepath.Join(dir, name+".json"),
		log:      filepath.Join(dir, name+".log"),
		pauses:   dice.New(s.Seed, "pauses", name),
		done:     make(chan struct{}),
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the settings of %s: %w", name, err)
	}
	if err := os.WriteFile(p.settings, data, 0o600); err != nil {
		return nil, fmt.Errorf("write the settings of %s: %w", name, err)
	}
	go p.keep(ctx)
	return p, nil
}

func (p *program) keep(ctx context.Context) {
	defer close(p.done)
	// A child gets its death signal when the thread that forked it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		p.run(ctx)
		if linger(ctx, p.pauses.Between(50*time.Millisecond, 2*time.Second)) != nil {
			return
		}
	}
}

// run runs the child once.
func (p *program) run(ctx context.Context) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = log.Close() }()                        // the child has its own descriptor
	cmd := exec.CommandContext(ctx, self, p.role, p.settings) // #nosec G204 -- this very program
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintln(log, "start:", err)
		return
	}
	p.mu.Lock()
	p.process = cmd.Process
	p.starts++
	p.mu.Unlock()
	_ = cmd.Wait() // however it ends, it is started again
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process = nil
	if cmd.ProcessState.ExitCode() == exitCrashed {
		p.crashes++
	}
}

// kill ends the child without any warning.
func (p *program) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		_ = p.process.Kill() // it may have ended by itself
	}
}

// counts are how often it was started, and how often a fault ended it.
func (p *program) counts() (starts, crashes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts, p.crashes
}
