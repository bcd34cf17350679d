package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
	"example.com/fairlead/internal/eventually"
)

func TestNextLeaderFindsWhatWasKept(t *testing.T) {
	long, odd := strings.Repeat("k", 1024), "\x00'\xff\"\n"
	tests := []struct {
		name   string
		groups [][]lease.Change
		want   map[string]string
	}{
		{"nothing", nil, map[string]string{}},
		{"an empty group", [][]lease.Change{{}}, map[string]string{}},
		{"one thing", [][]lease.Change{{put("a", "1")}}, map[string]string{"1 a": "1"}},
		{"an empty value is there", [][]lease.Change{{put("a", "")}}, map[string]string{"1 a": ""}},
		{"any bytes", [][]lease.Change{{put(odd, odd)}, {put(long, long)}}, map[string]string{"1 " + odd: odd, "1 " + long: long}},
		{"the later group wins", [][]lease.Change{{put("a", "1"), put("b", "1")}, {put("a", "2"), gone("b")}}, map[string]string{"1 a": "2"}},
		{"the later change of a group wins", [][]lease.Change{{put("a", "1"), gone("a"), put("b", "1"), put("a", "3"), put("c", "1"), gone("c")}}, map[string]string{"1 a": "3", "1 b": "1"}},
		{"what is gone comes back", [][]lease.Change{{put("a", "1")}, {gone("a")}, {put("a", "2")}}, map[string]string{"1 a": "2"}},
		{"what was never there is gone", [][]lease.Change{{gone("a")}}, map[string]string{}},
		{"kinds are apart", [][]lease.Change{{{Kind: 0, Key: "a", Value: []byte("0")}, {Kind: 255, Key: "a", Value: []byte("255")}}, {{Kind: 0, Key: "a"}}}, map[string]string{"255 a": "255"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dsn := postgrestest.Database(t)
			j := leading(t, dsn)
			for _, group := range tt.groups {
				keep(t, j, group...)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, kept(t, leading(t, dsn))); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadReadsEveryPage(t *testing.T) {
	j := leading(t, postgrestest.Database(t))
	const count = 25_000
	var group []lease.Change
	for i := range count {
		group = append(group, lease.Change{Kind: lease.Kind(i % 3), Key: fmt.Sprint(i), Value: []byte("v")})
	}
	keep(t, j, group...)
	if got := len(kept(t, j)); got != count {
		t.Errorf("%d things came back of %d", got, count)
	}
}

func TestLoadEndsWithTheErrorOfItsCaller(t *testing.T) {
	j := leading(t, postgrestest.Database(t))
	keep(t, j, put("a", "1"), put("b", "1"))
	enough, calls := errors.New("enough"), 0
	err := j.Load(t.Context(), func(lease.Change) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("after %d calls load gave %v", calls, err)
	}
}

func TestClosedJournalKeepsNothing(t *testing.T) {
	j := leading(t, postgrestest.Database(t))
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Commit(t.Context(), []lease.Change{put("a", "1")}); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("commit gave %v", err)
	}
	if err := j.Held(); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("held gave %v", err)
	}
}

func TestIdleLeaderStaysLeader(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	admin := administrator(t, dsn)
	began := time.Now()
	eventually.Within(t, "three times to live are over", 10*time.Second, func() bool {
		if err := j.Held(); err != nil {
			t.Fatal(err)
		}
		return time.Since(began) > 6*time.Second
	})
	var epoch int
	if err := admin.QueryRow(t.Context(), "SELECT epoch FROM fairlead_leases.leader").Scan(&epoch); err != nil || epoch != 1 {
		t.Errorf("epoch %d, %v", epoch, err)
	}
	keep(t, j, put("a", "1"))
}

func TestLeaderWithoutItsDatabaseSaysSoBeforeItsTimeIsOver(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	keep(t, j, put("a", "1"))
	admin := administrator(t, dsn)
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, admin, "LOCK TABLE fairlead_leases.leader IN ACCESS EXCLUSIVE MODE")
	began := time.Now()
	eventually.Within(t, "it says that it may not lead any more", 2*time.Second, func() bool { return j.Held() != nil })
	t.Logf("it said so after %s: %v", time.Since(began), j.Held())
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(t.Context(), []lease.Change{put("b", "1")}); err == nil {
		t.Error("a journal that failed keeps again")
	}
}

func TestSilenceIsMeasuredFromBeforeTheLastRenewalWasSent(t *testing.T) {
	dsn := postgrestest.Database(t)
	clock := clocktesting.NewFakeClock(time.Now())
	place, err := postgres.New(postgres.Options{DSN: dsn, URL: url, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	j := leadingAt(t, place)
	admin := administrator(t, dsn)
	execute(t, admin, "BEGIN")
	execute(t, admin, "SELECT FROM fairlead_leases.leader FOR UPDATE")
	clock.Step(1800 * time.Millisecond) // a renewal waits for the row now
	if err := j.Held(); err != nil {
		t.Error(err)
	}
	clock.Step(100 * time.Millisecond)
	if err := j.Held(); !errors.Is(err, postgres.ErrDeposed) {
		t.Errorf("after 1.9 s without a word held gave %v", err)
	}
	execute(t, admin, "ROLLBACK")
	eventually.Until(t, "the renewal counts from when it was sent", func() bool { return j.Held() == nil })
}

func TestCommitThatIsNotWaitedForEndsTheJournal(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	admin := administrator(t, dsn)
	execute(t, admin, "BEGIN")
	execute(t, admin, "SELECT FROM fairlead_leases.leader FOR UPDATE")
	began := time.Now()
	if err := j.Commit(t.Context(), []lease.Change{put("a", "1")}); err == nil {
		t.Error("a commit went through a lock")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s to fail", took)
	}
	execute(t, admin, "COMMIT")
	if err := j.Held(); err == nil {
		t.Error("a journal that failed is held")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{}, kept(t, leading(t, dsn))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
