package child

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// patience with a child of which a pipe has ended.
const patience = 2 * time.Second

// process is a child that runs.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	out    *bufio.Reader
	stderr head
	// done is closed when it has ended.
	done chan struct{}

	renders int
	expiry  *time.Timer // set while it is idle
}

// start runs a child whose garbage collector knows that it may take maxMemory bytes.
func start(command []string, maxMemory int64) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), done: make(chan struct{})} // #nosec G204 -- what the Renderer was given
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a renderer: %w", err)
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		_, _ = in.Close(), stdin.Close()
		return nil, fmt.Errorf("start a renderer: %w", err)
	}
	p.stdin, p.stdout, p.out = stdin, stdout, bufio.NewReader(stdout)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, &p.stderr
	// Nothing of this process's environment is a chart's business; of an end without a trace
	// its reason is left.
	p.cmd.Env = []string{"GOTRACEBACK=none", fmt.Sprintf("GOMEMLIMIT=%d", maxMemory/4*3)}
	// In a group of its own, a Ctrl-C of the terminal does not reach it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go p.run(started)
	err = <-started
	_, _ = in.Close(), out.Close() // the child has its own
	if err != nil {
		_, _ = stdin.Close(), stdout.Close()
		return nil, fmt.Errorf("start a renderer: %w", err)
	}
	return p, nil
}

// run starts the child and waits for it on one thread: Pdeathsig is sent when the thread that
// forked ends.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // ProcessState has how it ended
	close(p.done)
}

// ended says whether it has.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// ends is ended with some patience: its pipes end before it does.
func (p *process) ends() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(patience):
		return false
	}
}

// kill ends it soon. It is alone in its group: a renderer starts nothing.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end kills it, and returns when it is gone with all that it held.
func (p *process) end() {
	p.kill()
	<-p.done
	_, _ = p.stdin.Close(), p.stdout.Close()
}

// reason is why it ended by itself.
func (p *process) reason() error {
	if p.stderr.has("stack exceeds") {
		return ErrRecursion
	}
	return fmt.Errorf("%w (%s)", ErrEnded, p.cmd.ProcessState)
}

// head keeps the start of what is written. It is never shown: nobody knows what is in it.
type head struct{ kept bytes.Buffer }

const maxHead = 4 << 10

func (h *head) Write(data []byte) (int, error) {
	h.kept.Write(data[:min(len(data), maxHead-h.kept.Len())])
	return len(data), nil
}

func (h *head) has(words string) bool { return bytes.Contains(h.kept.Bytes(), []byte(words)) }
