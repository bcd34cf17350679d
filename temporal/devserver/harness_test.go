package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// server is a running program.
type server struct {
	address   string
	readyFile string
	cmd       *exec.Cmd
	log       *bytes.Buffer
	done      chan error
}

// launch starts the program without waiting for it.
func launch(t *testing.T, args ...string) *server {
	t.Helper()
	port := freePort(t)
	s := &server{
		address:   net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		readyFile: filepath.Join(t.TempDir(), "ready"),
		log:       &bytes.Buffer{},
		done:      make(chan error, 1),
	}
	args = append([]string{"--headless", "--port=" + strconv.Itoa(port), "--ready-file=" + s.readyFile}, args...)
	s.cmd = exec.Command(program, args...) // #nosec G204 -- the program under test
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.done <- s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		for range s.done { // until it has ended
		}
	})
	return s
}

// start is launch until the server is ready.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := launch(t, args...)
	eventually(t, "server is ready", func() bool {
		select {
		case err := <-s.done:
			t.Fatalf("server ended: %v\n%s", err, s.log)
		default:
		}
		_, err := os.Stat(s.readyFile)
		return err == nil
	})
	return s
}

func (s *server) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(testTimeout):
		t.Fatal("server does not end")
		return nil
	}
}

// interrupt asks the server to end, which must be no failure.
func (s *server) interrupt(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(t); err != nil {
		t.Fatalf("server ended after SIGINT with %v, want status 0\n%s", err, s.log)
	}
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.wait(t)
}

func (s *server) dial(t *testing.T, namespace string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: s.address, Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// runWorkflow runs one to its end, which needs every service of the server.
func runWorkflow(t *testing.T, c client.Client, id string, attribute temporal.SearchAttributeUpdate) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	w := worker.New(c, "queue", worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: "nothing"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: "queue", TypedSearchAttributes: temporal.NewSearchAttributes(attribute),
	}, "nothing")
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

// waitFound waits until a query over search attributes gives the workflow.
func waitFound(t *testing.T, c client.Client, query, id string) {
	t.Helper()
	eventually(t, query+" finds "+id, func() bool {
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.GetExecutions() {
			if e.GetExecution().GetWorkflowId() == id {
				return true
			}
		}
		return false
	})
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(testTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	ports, err := reservePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return ports[0]
}
