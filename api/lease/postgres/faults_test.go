package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/postgres"
	local "example.com/fairlead/deploy/local/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
	"example.com/fairlead/internal/eventually"
)

func itoa(port uint16) string { return strconv.Itoa(int(port)) }

// replica is a process that leads and keeps things.
type replica struct {
	cmd *exec.Cmd
	out *bufio.Scanner
	// last thing that was acknowledged, and why the replica failed, as far as it was read.
	last int
	why  string
}

func startReplica(t *testing.T, dsn string) *replica {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envLead+"="+dsn)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return &replica{cmd: cmd, out: bufio.NewScanner(out)}
}

// read reads what the replica says next; false when it says nothing any more.
func (r *replica) read() bool {
	if !r.out.Scan() {
		return false
	}
	if text, found := strings.CutPrefix(r.out.Text(), "kept "); found {
		r.last, _ = strconv.Atoi(text)
	} else {
		r.why = r.out.Text()
	}
	return true
}

// waitKept waits until n more things were acknowledged.
func (r *replica) waitKept(t *testing.T, n int) {
	t.Helper()
	for range n {
		if !r.read() || r.why != "" {
			t.Fatalf("the replica ended: %s", r.why)
		}
	}
}

// rest reads on until the replica ends.
func (r *replica) rest() (last int, why string) {
	for r.read() {
	}
	return r.last, r.why
}

func (r *replica) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// checkKept fails the test unless all up to last was kept, and only what may have been on its
// way besides.
func checkKept(t *testing.T, got map[string]string, last int) {
	t.Helper()
	n, err := strconv.Atoi(got["1 n"])
	if err != nil || n < last || n > last+1 {
		t.Errorf("%d was acknowledged last, and %q is kept", last, got["1 n"])
	}
	for i := range n {
		if got["1 n/"+strconv.Itoa(i)] != "kept" {
			t.Errorf("%d is not kept", i)
		}
	}
	if len(got) != n+2 {
		t.Errorf("%d things are kept of %d commits", len(got), n+1)
	}
}

func TestKilledLeaderIsFollowed(t *testing.T) {
	dsn := postgrestest.Database(t)
	r := startReplica(t, dsn)
	r.waitKept(t, 100)
	results := candidates(t.Context(), t, dsn, 2)
	r.waitKept(t, 100)
	r.signal(t, syscall.SIGKILL)
	e := next(t, results)
	last, _ := r.rest()
	checkKept(t, kept(t, e.j), last)
}

func TestStoppedLeaderIsFollowedAndKeepsNothingAfterwards(t *testing.T) {
	dsn := postgrestest.Database(t)
	for range 3 {
		r := startReplica(t, dsn)
		r.waitKept(t, 100)
		results := candidates(t.Context(), t, dsn, 2)
		r.waitKept(t, 100)
		r.signal(t, syscall.SIGSTOP)
		e := next(t, results)
		before := kept(t, e.j)
		r.signal(t, syscall.SIGCONT)
		last, why := r.rest()
		if !strings.Contains(why, postgres.ErrDeposed.Error()) && !strings.Contains(why, "timeout") {
			t.Errorf("the old leader said %q", why)
		}
		checkKept(t, before, last)
		if diff := cmp.Diff(before, kept(t, e.j)); diff != "" {
			t.Errorf("the old leader has changed what is kept (-before +after):\n%s", diff)
		}
		if err := e.j.Close(); err != nil {
			t.Fatal(err)
		}
		follower := next(t, results)
		for key := range before {
			keep(t, follower.j, gone(strings.TrimPrefix(key, "1 ")))
		}
		if err := follower.j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLeaderWithoutItsSessionKeepsNothing(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	keep(t, j, put("a", "1"))
	endSessions(t, dsn)
	if err := j.Commit(t.Context(), []lease.Change{put("b", "1")}); err == nil {
		t.Error("it kept something without a session")
	}
	if err := j.Held(); err == nil {
		t.Error("it is still held")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	next := leading(t, dsn)
	if diff := cmp.Diff(map[string]string{"1 a": "1"}, kept(t, next)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestIdleLeaderNoticesThatItsSessionEnded(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	endSessions(t, dsn)
	eventually.Within(t, "it notices", 2*time.Second, func() bool { return j.Held() != nil })
}

func TestDeposedLeaderKeepsNothing(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	keep(t, j, put("a", "1"))
	admin := administrator(t, dsn)
	for name, steal := range map[string]string{
		"another epoch":    "UPDATE fairlead_leases.leader SET epoch = epoch + 1",
		"another holder":   "UPDATE fairlead_leases.leader SET holder = 'another'",
		"its time is over": "UPDATE fairlead_leases.leader SET expires_at = clock_timestamp() - interval '1 ms'",
	} {
		t.Run(name, func(t *testing.T) {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = leading(t, dsn)
			execute(t, admin, steal)
			if err := j.Commit(t.Context(), []lease.Change{put("a", "2"), gone("a"), put("b", "1")}); !errors.Is(err, postgres.ErrDeposed) {
				t.Errorf("commit gave %v", err)
			}
			if err := j.Held(); !errors.Is(err, postgres.ErrDeposed) {
				t.Errorf("held gave %v", err)
			}
			execute(t, admin, "UPDATE fairlead_leases.leader SET expires_at = 'epoch'")
			if diff := cmp.Diff(map[string]string{"1 a": "1"}, kept(t, leading(t, dsn))); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransactionThatNobodyEndsIsEnded(t *testing.T) {
	conn := lostSession(t, postgrestest.Database(t))
	execute(t, conn, "BEGIN")
	execute(t, conn, writeRow)
	eventually.Within(t, "the server ends the session", 3*time.Second, func() bool {
		_ = conn.PgConn().Conn().SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		_, err := conn.PgConn().Frontend().Receive()
		return err == nil
	})
}

func TestStatementThatWasNotSentCompletelyBlocksNobody(t *testing.T) {
	dsn := postgrestest.Database(t)
	holdStatement(t, lostSession(t, dsn))
	e := next(t, candidates(t.Context(), t, dsn, 2))
	if diff := cmp.Diff(map[string]string{"1 a": "1"}, kept(t, e.j)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// lostSession is a session of a leader that does nothing else any more.
func lostSession(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	place := newPlace(t, dsn)
	keep(t, leadingAt(t, place), put("a", "1"))
	endSessions(t, dsn)
	conn, err := postgres.Connect(place, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server has ended it
	return conn
}

func endSessions(t *testing.T, dsn string) {
	t.Helper()
	execute(t, administrator(t, dsn), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'fairlead-lease/%' AND datname = current_database()")
}

const writeRow = "UPDATE fairlead_leases.leader SET expires_at = clock_timestamp() + interval '1 hour'"

// holdStatement sends all of a statement but the last message, Sync, which would commit it.
func holdStatement(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	front := conn.PgConn().Frontend()
	front.SendParse(&pgproto3.Parse{Query: writeRow})
	front.SendBind(&pgproto3.Bind{})
	front.SendExecute(&pgproto3.Execute{})
	front.Send(&pgproto3.Flush{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		message, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if _, done := message.(*pgproto3.CommandComplete); done {
			return
		}
	}
}

func TestClockSetBackKeepsNobodyWaiting(t *testing.T) {
	dsn := postgrestest.Database(t)
	if err := leading(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	// As a leader that was killed just before would have left it.
	execute(t, administrator(t, dsn), "UPDATE fairlead_leases.leader SET holder = 'killed', expires_at = clock_timestamp() + interval '1 hour'")
	keep(t, next(t, candidates(t.Context(), t, dsn, 1)).j, put("a", "1"))
}

func TestKilledServerHasWhatWasAcknowledged(t *testing.T) {
	server := postgrestest.Start(t, local.Options{})
	dsn := server.DSN("postgres")
	r := startReplica(t, dsn)
	r.waitKept(t, 200)
	server.Kill(t)
	last, why := r.rest()
	if why == "" {
		t.Error("the leader did not say that it failed")
	}
	if j, err := newPlace(t, dsn).Lead(t.Context()); err == nil {
		t.Errorf("%v leads without a server", j)
	}
	server.Start(t)
	checkKept(t, kept(t, leading(t, dsn)), last)
}
