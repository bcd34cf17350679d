// Package postgres runs a PostgreSQL server of Debian's package as a child, for tests and
// for the chaos harness.
package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/fairlead/deploy/local/child"
)

const (
	childName = "postgres"
	// role is the superuser, who has the generated password.
	role = "fairlead"
	// maintenance is a database that is always there.
	maintenance = "postgres"

	loopback = "127.0.0.1"

	startTimeout = time.Minute
	greetTimeout = 2 * time.Second
	pollEvery    = 20 * time.Millisecond
	// grace is how long the server waits for its clients to leave. It loses nothing when
	// it is killed after that.
	grace = 5 * time.Second
)

// Options say where the server keeps its state and where it listens.
type Options struct {
	// Dir has the data and the password. When this program runs as root, the server runs as
	// the user postgres, who must be able to reach Dir.
	Dir string
	// Port that it listens on.
	Port int
	// Addresses that it listens on besides 127.0.0.1.
	Addresses []string
	// Fsync makes writes survive a power cut; tests do without: what was committed
	// survives a kill of the server in any case.
	Fsync bool
	// Progress is told what is waited for. It may be nil.
	Progress func(message string)
}

// Server is a running PostgreSQL server.
type Server struct {
	port     int
	password string
	process  *child.Process
}

// Start runs the server as a child of group and waits until it answers. The same directory
// may be used again after any end.
func Start(ctx context.Context, group *child.Group, o Options) (*Server, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	who, err := chooseAccount()
	if err != nil {
		return nil, err
	}
	if err := ensureData(ctx, bin, who, o); err != nil {
		return nil, err
	}
	s := &Server{port: o.Port}
	if s.password, err = readPassword(o.Dir); err != nil {
		return nil, err
	}
	if err := waitAbandoned(ctx, o.data()); err != nil {
		return nil, err
	}
	o.Progress("starting PostgreSQL")
	s.process, err = group.Start(child.Spec{
		Name: childName, Command: who.command(o.command(bin)...), Grace: grace, KeepsNothing: true,
	})
	if err != nil {
		return nil, err
	}
	return s, s.waitReady(ctx, group)
}

func (o Options) data() string { return filepath.Join(o.Dir, "data") }

func (o Options) command(bin string) []string {
	fsync := "off"
	if o.Fsync {
		fsync = "on"
	}
	return []string{
		filepath.Join(bin, "postgres"), "-D", o.data(),
		"-c", "listen_addresses=" + strings.Join(append([]string{loopback}, o.Addresses...), ","),
		"-c", "port=" + strconv.Itoa(o.Port),
		"-c", "unix_socket_directories=",
		"-c", "fsync=" + fsync,
		// Otherwise a killed server leaves it behind in /dev/shm.
		"-c", "dynamic_shared_memory_type=mmap",
	}
}

// DSN is the connection string for a database, with the password.
func (s *Server) DSN(database string) string { return s.DSNAt(loopback, database) }

// DSNAt is the connection string of those who reach the server at another address.
func (s *Server) DSNAt(address, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, s.password),
		Host:     net.JoinHostPort(address, strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// PID is the server's process id; each of its sessions is a process of its own.
func (s *Server) PID() int { return s.process.PID() }

// CreateDatabase makes an empty database.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.maintain(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
}

// DropDatabase removes a database and ends the sessions in it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.maintain(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

func (s *Server) maintain(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.DSN(maintenance))
	if err != nil {
		return fmt.Errorf("connect to the local PostgreSQL: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // there is nothing left to say
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// waitReady waits until the server answers, which after a kill it does once it has read
// its log again.
func (s *Server) waitReady(ctx context.Context, group *child.Group) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := s.greet(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-group.Done():
			return group.Err()
		case <-ctx.Done():
			return fmt.Errorf("wait for PostgreSQL to be ready: %w", err)
		case <-tick.C:
		}
	}
}

// greet connects once. Somebody else who has the port may never answer.
func (s *Server) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN(maintenance))
	if err != nil {
		return fmt.Errorf("connect to the local PostgreSQL: %w", err)
	}
	return conn.Close(ctx)
}
