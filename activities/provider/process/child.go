package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/forward"
	"example.com/fairlead/activities/provider/process/life"
)

const (
	// startTimeout is how long a process may take until it listens.
	startTimeout = 10 * time.Second
	// stopGrace is how long it may take to end after SIGTERM; its connections get
	// half of it.
	stopGrace = 2 * time.Second
	pollEvery = 5 * time.Millisecond
)

// child is a process that was started and does not listen yet.
type child struct {
	dir    string
	life   string
	exited <-chan string // how it ended; nil when another program started it
}

// start runs the process of r and waits until it listens.
func (p *Provider) start(ctx context.Context, dir string, r *record) error {
	c := &child{dir: dir, life: filepath.Join(dir, r.LifeFile)}
	// Forget the signs of a former process: from here on, signs are of the new one.
	release, err := life.Seize(c.life)
	if err != nil {
		return err
	}
	if err := release(); err != nil {
		return err
	}
	if err := tryAddress(ctx, r.addrPort()); errors.Is(err, syscall.EADDRINUSE) {
		return takenError(r.addrPort(), err)
	} else if err != nil {
		return err
	}
	if err := provider.Overdue(ctx); err != nil {
		return fmt.Errorf("start the process: %w: %w", err, provider.ErrTransient)
	}
	cmd, err := p.spawn(dir, r)
	if err != nil {
		return err
	}
	exited := make(chan string, 1)
	// Reaps the process. It outlives this call and, if the process does, this program.
	go func() { exited <- exitStatus(cmd.Wait()) }()
	c.exited = exited
	err = c.waitListening(ctx)
	if err != nil { // after the deadline too: nobody would know of it
		_ = cmd.Process.Kill() // it may have ended by itself
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
		defer cancel()
		c.waitExit(end)
	}
	return err
}

// spawn starts the process detached: in a session of its own, without this
// program's environment, which may hold secrets.
func (p *Provider) spawn(dir string, r *record) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil, diskError("open the log of an instance", err)
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor
	o := forward.Options{
		Listen:    r.addrPort().String(),
		DialFrom:  r.Address.String(),
		LockFile:  filepath.Join(dir, r.LifeFile),
		StopGrace: stopGrace / 2,
	}
	if r.Auth {
		o.AuthFile = filepath.Join(dir, authFile)
	}
	args := append(append([]string{}, p.command[1:]...), o.Args()...)
	cmd := exec.Command(p.command[0], args...) // #nosec G204 -- the program is the operator's choice
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		class := provider.ErrPermanent
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ETXTBSY) {
			class = provider.ErrTransient
		}
		return nil, fmt.Errorf("run the proxy program: %w: %w", err, class)
	}
	return cmd, nil
}

// waitListening returns when the process listens, has ended, or takes too long.
func (c *child) waitListening(ctx context.Context) error {
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		s, err := life.Look(c.life)
		switch {
		case err != nil:
			return err
		case s.Listening:
			return nil
		case s.PID == 0 && c.exited == nil:
			return c.diedError("its process died before it listened")
		}
		select {
		case how := <-c.exited:
			c.exited = nil
			if s, lookErr := life.Look(c.life); lookErr == nil && s.PID != 0 {
				continue // another process has the instance
			}
			return c.diedError("its process died at once (" + how + ")")
		case <-timeout.C:
			return c.diedError("its process does not listen after " + startTimeout.String())
		case <-ctx.Done():
			return fmt.Errorf("its process does not listen yet: %w: %w", ctx.Err(), provider.ErrTransient)
		case <-tick.C:
		}
	}
}

// waitExit waits for a process that was killed.
func (c *child) waitExit(ctx context.Context) {
	if c.exited == nil {
		return
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
	}
}

func (c *child) diedError(what string) error {
	return fmt.Errorf("%s; the log says: %s: %w", what, lastLine(filepath.Join(c.dir, logFile)), provider.ErrTransient)
}

func exitStatus(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// lastLine is the last line of a log that has text.
func lastLine(path string) string {
	const tail = 2048
	f, err := os.Open(path) // #nosec G304 -- a path of the state directory
	if err != nil {
		return "nothing"
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		_, _ = f.Seek(-tail, io.SeekEnd) // else it is read from the start
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	text := strings.TrimSpace(string(data))
	if err != nil || text == "" {
		return "nothing"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
