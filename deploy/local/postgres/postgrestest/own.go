package postgrestest

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/postgres"
)

// Own is a server of one test.
type Own struct {
	*postgres.Server
	options postgres.Options
	group   *child.Group
}

// Start starts a server that ends with the test. Options need neither Dir nor Port.
func Start(t testing.TB, o postgres.Options) *Own {
	t.Helper()
	dir, err := newDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(dir); err != nil {
			t.Error(err)
		}
	})
	free, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	o.Dir, o.Port = filepath.Join(dir, serverDir), free.Ports[0]
	own := &Own{options: o}
	own.Start(t)
	return own
}

// Start starts the server again, after Kill, with what it has kept.
func (o *Own) Start(t testing.TB) {
	t.Helper()
	group, err := child.NewGroup(o.options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	o.group = group
	if o.Server, err = postgres.Start(t.Context(), group, o.options); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server with SIGKILL.
func (o *Own) Kill(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(o.PID(), syscall.SIGKILL); err != nil {
		t.Fatalf("kill PostgreSQL: %v", err)
	}
	<-o.group.Done()
}
