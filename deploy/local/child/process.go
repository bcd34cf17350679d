package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	// defaultGrace is how long a child may take to end after SIGTERM.
	defaultGrace = 20 * time.Second
	// failedGrace is the same once another child has failed: kube-apiserver, for
	// one, does not end while etcd is gone.
	failedGrace = 2 * time.Second
)

// Spec says what to run.
type Spec struct {
	// Name of the child: unique in its group, and the stem of its log file.
	Name string
	// Command is the program and its arguments.
	Command []string
	// Env is added to this program's own environment.
	Env []string
	// Grace is how long the child may take to end after SIGTERM; default 20 s.
	Grace time.Duration
	// KeepsNothing makes it no error that the child is killed: after its grace, and at
	// once when this program dies.
	KeepsNothing bool
}

// Process is a child that was started.
type Process struct {
	name    string
	logFile string
	record  string
	grace   time.Duration
	nothing bool // is lost when it is killed
	pid     int
	done    chan struct{}
	waitErr error // valid once done is closed
}

func (g *Group) launch(spec Spec) (*Process, error) {
	p := &Process{
		name:    spec.Name,
		logFile: filepath.Join(g.logDir, spec.Name+".log"),
		record:  filepath.Join(g.runDir, spec.Name+recordSuffix),
		grace:   spec.Grace,
		nothing: spec.KeepsNothing,
		done:    make(chan struct{}),
	}
	if p.grace == 0 {
		p.grace = defaultGrace
	}
	log, err := openLog(p.logFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor

	cmd := exec.Command(spec.Command[0], spec.Command[1:]...) // #nosec G204 -- running given programs is this package's purpose
	cmd.Env = append(os.Environ(), spec.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own keeps the terminal's Ctrl-C away from the child: it is
	// stopped in order, not all at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if p.nothing {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}

	started := make(chan error)
	go p.run(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if err := writeRecord(p.record, p.pid); err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return p, nil
}

// run starts cmd and waits for it on one thread: Pdeathsig is sent when the
// thread that forked ends, so that thread must live as long as the child.
func (p *Process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	p.waitErr = cmd.Wait()
	close(p.done)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit describes how the child ended, with the last lines of its log. It may be
// called once Done is closed.
func (p *Process) Exit() *ExitError {
	return &ExitError{Name: p.name, LogFile: p.logFile, Cause: p.waitErr, Tail: tail(p.logFile)}
}

// errKilled is a child that did not end when it was asked to.
var errKilled = errors.New("it did not end when asked to and was killed")

// stop asks the child to end and kills it after the grace, or at once when ctx
// ends. The child is gone when stop returns.
func (p *Process) stop(ctx context.Context, grace time.Duration) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := signalGroup(p.pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	if err := p.kill(); err != nil || p.nothing {
		return err
	}
	return fmt.Errorf("stop %s (log %s): %w", p.name, p.logFile, errKilled)
}

func (p *Process) kill() error {
	if err := signalGroup(p.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// signalGroup sends a signal to a process group; a group that is gone is fine.
func signalGroup(pid int, signal syscall.Signal) error {
	if err := syscall.Kill(-pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal process group %d: %w", pid, err)
	}
	return nil
}
