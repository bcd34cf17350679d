package main

import (
	"context"
	"errors"
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

// program keeps one part of Fairlead running: it is started again when it was killed, as by
// whatever runs it in an installation.
type program struct {
	name    string
	command []string
	log     string
	// pauses before it is started again.
	pauses *dice.Dice
	// ended is told when it ends without being killed.
	ended func(error)

	done    chan struct{}
	mu      sync.Mutex
	process *os.Process // nil while it does not run
	gone    chan struct{}
	killed  bool
}

// start runs the program until ctx ends; wait waits for that.
func (p *program) start(ctx context.Context) {
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		// A child gets its death signal when the thread that forked it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for ctx.Err() == nil {
			if err := p.run(ctx); err != nil && ctx.Err() == nil {
				p.ended(fmt.Errorf("%s ended by itself: %w (log: %s)", p.name, err, filepath.Base(p.log)))
				return
			}
			if linger(ctx, p.pauses.Between(0, time.Second)) != nil {
				return
			}
		}
	}()
}

func (p *program) wait() { <-p.done }

// run runs it once. That it was killed is no error.
func (p *program) run(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { _ = log.Close() }()                              // the child has its own descriptor
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...) // #nosec G204 -- the program that this one is for
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	gone := make(chan struct{})
	p.mu.Lock()
	p.process, p.gone, p.killed = cmd.Process, gone, false
	p.mu.Unlock()
	err = cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	close(gone)
	p.process = nil
	if p.killed {
		return nil
	}
	return errors.Join(err, errors.New(cmd.ProcessState.String()))
}

// kill ends the program without any warning, and waits until it is gone.
func (p *program) kill() {
	p.mu.Lock()
	process, gone := p.process, p.gone
	p.killed = true
	if process != nil {
		_ = process.Kill() // what has ended already is told by run
	}
	p.mu.Unlock()
	if process != nil {
		<-gone
	}
}
