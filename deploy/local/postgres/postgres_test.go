package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
	"example.com/fairlead/internal/eventually"
)

// envOwned makes the test program the owner of a server in that directory.
const envOwned = "POSTGRES_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(envOwned); dir != "" {
		fmt.Fprintln(os.Stderr, own(dir))
		os.Exit(1)
	}
	os.Exit(postgrestest.Main(m))
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) }) // tests end it in other ways
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestEachTestHasAnEmptyDatabase(t *testing.T) {
	for range 2 {
		execute(t, connect(t, postgrestest.Database(t)), "CREATE TABLE mine (n int)")
	}
}

func TestKilledServerStartsAgainWithWhatWasCommitted(t *testing.T) {
	server := postgrestest.Start(t, postgres.Options{})
	for _, want := range [][]int{{0}, {0, 1}, {0, 1, 2}} {
		conn := connect(t, server.DSN("postgres"))
		execute(t, conn, "CREATE TABLE IF NOT EXISTS kept (n int)")
		execute(t, conn, "INSERT INTO kept SELECT count(*) FROM kept")
		server.Kill(t)
		server.Start(t)
		rows, err := connect(t, server.DSN("postgres")).Query(t.Context(), "SELECT n FROM kept ORDER BY n")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	}
}

func TestServerListensOnASecondAddress(t *testing.T) {
	const second = "127.0.0.2"
	server := postgrestest.Start(t, postgres.Options{Addresses: []string{second}})
	execute(t, connect(t, server.DSNAt(second, "postgres")), "SELECT 1")
}

func TestNobodyComesInWithoutThePassword(t *testing.T) {
	server := postgrestest.Start(t, postgres.Options{})
	config, err := pgx.ParseConfig(server.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if _, err = pgx.ConnectConfig(t.Context(), config); err == nil || !strings.Contains(err.Error(), "password authentication failed") {
		t.Errorf("connect without the password gave %v", err)
	}
}

func TestServerEndsWithItsKilledOwner(t *testing.T) {
	server := postgres.Options{Dir: filepath.Join(openDir(t), "server")}
	t.Cleanup(func() {
		if err := postgres.Remove(context.Background(), server.Dir); err != nil {
			t.Error(err)
		}
	})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envOwned+"="+server.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Errorf("the owner says nothing: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the kill is its error
	if pid > 0 {
		eventually.Within(t, "the server ends", 10*time.Second, func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// own starts a server, tells its process id, and waits to be killed.
func own(dir string) error {
	free, err := ports.Reserve(1)
	if err != nil {
		return err
	}
	group, err := child.NewGroup(dir)
	if err != nil {
		return err
	}
	server, err := postgres.Start(context.Background(), group, postgres.Options{Dir: dir, Port: free.Ports[0]})
	if err != nil {
		return err
	}
	fmt.Println(server.PID())
	select {}
}

func TestTakenPortIsReportedWithTheServersOwnWords(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	o := postgres.Options{Dir: openDir(t)}
	if o.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	if err := start(t, o); err == nil || !strings.Contains(err.Error(), "postgres ended unexpectedly") || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("start gave %v", err)
	}
}

func TestRootIsToldOfADirectoryThatTheServerCannotReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the server runs as the user of this test")
	}
	free, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	defer free.Release()
	closed := filepath.Join(openDir(t), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := start(t, postgres.Options{Dir: filepath.Join(closed, "server"), Port: free.Ports[0]}); err == nil || !strings.Contains(err.Error(), "chmod o+x") {
		t.Errorf("start gave %v", err)
	}
}

// start starts a server that does not come to be.
func start(t *testing.T, o postgres.Options) error {
	t.Helper()
	group, err := child.NewGroup(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Start(t.Context(), group, o)
	if stopErr := group.Stop(t.Context()); stopErr != nil {
		t.Error(stopErr)
	}
	return err
}

func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fairlead-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}
