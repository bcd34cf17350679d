// Package localtest gives tests the real parts that Fairlead runs on: a control
// plane, a Temporal server, a node. They are shared by the tests of a package.
package localtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
)

const (
	// binEnv names another directory of programs than .bin of the module.
	binEnv = "FAIRLEAD_BIN"

	stopTimeout = time.Minute
)

var errNoMain = errors.New("the package's TestMain must call localtest.Main")

// environment holds the parts that were started so far.
type environment struct {
	mu    sync.Mutex
	dir   string // empty unless Main runs
	stops []func(context.Context) error

	controlPlane part[*controlplane.ControlPlane]
	temporal     part[*temporalServer]
	node         part[*local.Cluster]
}

// shared is what the tests of one test program have in common; a test function
// has no other way to reach what TestMain made.
var shared environment

// Main runs the tests and then ends what they started. Each package that uses
// localtest has
//
//	func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fairlead-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make directory for the local stack:", err)
		return 1
	}
	shared.dir = dir
	log.SetLogger(logr.Discard()) // or controller-runtime complains that nobody did
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the local stack:", err)
		code = 1
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "remove the state of the local stack:", err)
		code = 1
	}
	return code
}

// Dir is the directory that has the programs.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(binEnv); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("find the programs: %v", err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".bin")
		}
	}
	t.Fatalf("no go.mod above the working directory: set %s to the directory of the programs", binEnv)
	return ""
}

// newGroup makes a group of children that ends with the test program, and the
// directory for what they keep.
func (e *environment) newGroup(name string) (*child.Group, string, error) {
	if e.dir == "" {
		return nil, "", errNoMain
	}
	dir := filepath.Join(e.dir, name)
	group, err := child.NewGroup(dir)
	if err != nil {
		return nil, "", err
	}
	e.onStop(group.Stop)
	return group, dir, nil
}

func (e *environment) onStop(stop func(context.Context) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops = append(e.stops, stop)
}

// stop ends the parts, the last one started first.
func (e *environment) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var first error
	for i := len(e.stops) - 1; i >= 0; i-- {
		if err := e.stops[i](ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// part is started by the first test that needs it.
type part[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (p *part[T]) get(t testing.TB, start func() (T, error)) T {
	t.Helper()
	p.once.Do(func() { p.value, p.err = start() })
	if p.err != nil {
		t.Fatalf("start a part of the local stack: %v", p.err)
	}
	return p.value
}
