// Package postgrestest gives tests a PostgreSQL server: one that the tests of a package
// share, each in a database of its own, or one that a test may kill.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/postgres"
)

const (
	serverDir   = "server"
	stopTimeout = 30 * time.Second
)

// environment is the server that the tests of a package share.
type environment struct {
	dir string // empty unless Main runs

	once  sync.Once
	group *child.Group
	*postgres.Server
	err error

	mu    sync.Mutex
	count int // databases so far
}

// shared is what the tests of one test program have in common; a test function
// has no other way to reach what TestMain made.
var shared environment

// Main runs the tests, m being a *testing.M or what wraps it, and then ends the server.
// Each package that uses postgrestest has
//
//	func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }
func Main(m interface{ Run() int }) int {
	dir, err := newDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared.dir = dir
	code := m.Run()
	if err := errors.Join(shared.stop(), remove(dir)); err != nil {
		fmt.Fprintln(os.Stderr, "remove PostgreSQL:", err)
		code = 1
	}
	return code
}

// newDir makes a directory that the user of the server may enter.
func newDir() (string, error) {
	dir, err := os.MkdirTemp("", "fairlead-postgres-")
	if err != nil {
		return "", fmt.Errorf("make directory for PostgreSQL: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // #nosec G302 -- what is in it is closed
		return "", fmt.Errorf("open directory for PostgreSQL: %w", err)
	}
	return dir, nil
}

// remove removes a directory of newDir and the server's in it.
func remove(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := postgres.Remove(ctx, filepath.Join(dir, serverDir)); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Database gives the connection string of an empty database of the shared server.
func Database(t testing.TB) string {
	t.Helper()
	shared.once.Do(shared.start)
	if shared.err != nil {
		t.Fatalf("start PostgreSQL: %v", shared.err)
	}
	shared.mu.Lock()
	shared.count++
	name := fmt.Sprintf("test_%d", shared.count)
	shared.mu.Unlock()
	if err := shared.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.DropDatabase(context.Background(), name); err != nil {
			t.Error(err)
		}
	})
	return shared.DSN(name)
}

func (e *environment) start() {
	if e.dir == "" {
		e.err = errors.New("the package's TestMain must call postgrestest.Main")
		return
	}
	free, err := ports.Reserve(1)
	if err != nil {
		e.err = err
		return
	}
	dir := filepath.Join(e.dir, serverDir)
	if e.group, e.err = child.NewGroup(dir); e.err != nil {
		return
	}
	ctx := context.Background() // outlives the test that happens to be first
	e.Server, e.err = postgres.Start(ctx, e.group, postgres.Options{Dir: dir, Port: free.Ports[0]})
}

func (e *environment) stop() error {
	if e.group == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return e.group.Stop(ctx)
}
