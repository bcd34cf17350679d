package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
)

// How long the stack may take to come up, and to go down.
const (
	upTimeout   = 2 * time.Minute
	downTimeout = time.Minute
)

// stack is `fairlead dev` with a state directory and ports of its own.
type stack struct {
	t          *testing.T
	program    string
	dir        string
	kubeconfig string
	flags      []string
	http       string
	ui         string
	echo       string
	out        *output
	cmd        *exec.Cmd
	// ended is closed when the program has ended, with err.
	ended chan struct{}
	err   error
}

func newStack(t *testing.T) *stack {
	t.Helper()
	free, err := ports.Reserve(6)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	p := free.Ports
	s := &stack{t: t, program: program, dir: filepath.Join(t.TempDir(), "state")}
	s.kubeconfig = filepath.Join(s.dir, "kubeconfig")
	s.http, s.ui, s.echo = fmt.Sprintf("http://127.0.0.1:%d", p[5]), fmt.Sprintf("http://127.0.0.1:%d", p[3]), fmt.Sprintf("http://127.0.0.1:%d", p[4])
	s.flags = []string{
		"dev", "--state-dir", s.dir, "--bin-dir", localtest.Dir(t), "--http-address", strings.TrimPrefix(s.http, "http://"),
		fmt.Sprintf("--kubernetes-port=%d", p[0]), fmt.Sprintf("--etcd-port=%d", p[1]), fmt.Sprintf("--temporal-port=%d", p[2]),
		fmt.Sprintf("--temporal-ui-port=%d", p[3]), fmt.Sprintf("--echo-port=%d", p[4]),
	}
	t.Cleanup(s.erase)
	return s
}

// start runs the stack and waits until it says that it is ready.
func (s *stack) start() {
	s.t.Helper()
	s.out = &output{ready: make(chan struct{})}
	s.cmd = exec.Command(s.program, s.flags...) // #nosec G204 -- the program under test
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.WaitDelay = time.Second // a child that lives on must not keep the pipe open
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		s.err = s.cmd.Wait()
		close(ended)
	}()
	select {
	case <-s.out.ready:
	case <-s.ended:
		s.t.Fatalf("fairlead dev ended: %v\n%s", s.err, s.out)
	case <-time.After(upTimeout):
		s.t.Fatalf("fairlead dev is not ready after %s\n%s", upTimeout, s.out)
	}
}

func (s *stack) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
	<-s.ended
}

// stop ends the stack as Ctrl-C does.
func (s *stack) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Error(err)
	}
	select {
	case <-s.ended:
		if s.err != nil {
			s.t.Errorf("fairlead dev ended with %v\n%s", s.err, s.out)
		}
	case <-time.After(downTimeout):
		s.t.Errorf("fairlead dev does not end within %s and is killed\n%s", downTimeout, s.out)
		s.kill()
	}
}

// running says whether the program was started and has not ended.
func (s *stack) running() bool {
	if s.ended == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// erase ends the stack and the proxies that it left running.
func (s *stack) erase() {
	if s.running() {
		s.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if err := endProxies(ctx, s.dir); err != nil {
		s.t.Errorf("end the proxies: %v", err)
	}
}
