package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
)

const testTimeout = time.Minute

var program string // built by TestMain

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "devserver-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make directory for the server:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "temporal-devserver")
	// The flags of deploy/tools/build.sh: with others, all of Temporal would be compiled again.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestServerKeepsWhatItWasToldAcrossRestarts(t *testing.T) {
	// Characters that mean something in the URI that SQLite opens.
	db := filepath.Join(t.TempDir(), "a b#c%3f", "temporal.db")
	first := start(t, "--db-filename="+db, "--namespace=one", "--search-attribute=Phase=Keyword", "--retention=48h")
	runWorkflow(t, first.dial(t, "one"), "before", temporal.NewSearchAttributeKeyKeyword("Phase").ValueSet("Ready"))
	first.interrupt(t)
	if log, err := os.Stat(db + "-wal"); err == nil && log.Size() > 0 {
		t.Errorf("write-ahead log still has %d bytes after a stop in order", log.Size())
	}

	second := start(t, "--db-filename="+db, "--namespace=two", "--search-attribute=Phase=Keyword", "--search-attribute=Alive=Bool")
	waitFound(t, second.dial(t, "one"), `Phase = "Ready"`, "before")
	// A namespace and an attribute that the old database lacked.
	runWorkflow(t, second.dial(t, "two"), "after", temporal.NewSearchAttributeKeyBool("Alive").ValueSet(true))
	waitFound(t, second.dial(t, "two"), `Alive = true`, "after")
	second.kill(t)

	third := start(t, "--db-filename="+db, "--namespace=two", "--search-attribute=Alive=Bool")
	waitFound(t, third.dial(t, "two"), `Alive = true`, "after")
	third.interrupt(t)
}

func TestServerEndsInOrderWhileAWorkerPolls(t *testing.T) {
	s := start(t)
	w := worker.New(s.dial(t, "default"), "queue", worker.Options{})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	began := time.Now()
	s.interrupt(t)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("server took %s to stop", took)
	}
	if _, err := os.Stat(s.readyFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ready file of a stopped server: %v, want it gone", err)
	}
}

func TestServerStoppedWhileItStartsExitsWithoutError(t *testing.T) {
	for _, delay := range []time.Duration{50, 150, 300, 600} {
		t.Run(fmt.Sprint(delay*time.Millisecond), func(t *testing.T) {
			s := launch(t, "--db-filename="+filepath.Join(t.TempDir(), "temporal.db"))
			<-time.After(delay * time.Millisecond) // the moment is what is tested
			s.interrupt(t)
		})
	}
}

func TestServerServesTheWebUI(t *testing.T) {
	port := freePort(t)
	start(t, "--headless=false", "--ui-port="+strconv.Itoa(port))
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	for path, want := range map[string]string{
		"/":                          "<html",
		"/api/v1/cluster-info":       `"serverVersion"`,
		"/api/v1/namespaces/default": `"NAMESPACE_STATE_REGISTERED"`,
	} {
		t.Run(path, func(t *testing.T) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
				t.Errorf("answer is %s with %.200q, want one with %q", res.Status, body, want)
			}
		})
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t, "--port="+port)
	var exit *exec.ExitError
	if err := s.wait(t); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("exit is %v, want status 1", err)
	}
	if want := "address 127.0.0.1:" + port + " is taken by another process: choose another one with --port"; !strings.Contains(s.log.String(), want) {
		t.Errorf("message is %q, want one with %q", s.log.String(), want)
	}
}

func TestSuiteOfTheSDKStartsIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	attributes := temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("Phase").ValueSet(""))
	s, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{ExistingPath: program, SearchAttributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	runWorkflow(t, s.Client(), "suite", temporal.NewSearchAttributeKeyKeyword("Phase").ValueSet("Ready"))
	if err := s.Stop(); err != nil {
		t.Error("stop:", err)
	}
}
