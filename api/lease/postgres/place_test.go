package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
	"example.com/fairlead/internal/eventually"
)

// failover is how long nobody may lead after a leader was lost.
const failover = 5 * time.Second

// elected is what Lead gave.
type elected struct {
	place *postgres.Place
	j     lease.Journal
	err   error
}

// candidates lets new replicas wait for the lead until ctx ends.
func candidates(ctx context.Context, t *testing.T, dsn string, count int) <-chan elected {
	t.Helper()
	results := make(chan elected, count)
	for range count {
		place := newPlace(t, dsn)
		go func() {
			j, err := place.Lead(ctx)
			results <- elected{place, j, err}
		}()
	}
	return results
}

// next is the candidate that leads next, within the time that a failover may take.
func next(t *testing.T, results <-chan elected) elected {
	t.Helper()
	began := time.Now()
	select {
	case e := <-results:
		if e.err != nil {
			t.Fatal(e.err)
		}
		t.Logf("another one leads after %s", time.Since(began).Round(time.Millisecond))
		t.Cleanup(func() { _ = e.j.Close() }) // tests that care close it themselves
		return e
	case <-time.After(failover):
		t.Fatalf("nobody leads after %s", failover)
		return elected{}
	}
}

func TestOneOfManyLeadsOnAnEmptyDatabase(t *testing.T) {
	for range 3 {
		dsn := postgrestest.Database(t)
		ctx, cancel := context.WithCancel(t.Context())
		const count = 6
		results := candidates(ctx, t, dsn, count)
		first := next(t, results)
		// The others have looked once this is over.
		keepFor(t, first.j, time.Second)
		cancel()
		for range count - 1 {
			if other := <-results; !errors.Is(other.err, context.Canceled) {
				t.Errorf("another one also leads, or failed: %v", other.err)
			}
		}
		keep(t, first.j, put("a", "1"))
	}
}

// keepFor commits for a while.
func keepFor(t *testing.T, j lease.Journal, d time.Duration) {
	t.Helper()
	began := time.Now()
	eventually.Until(t, "it is over", func() bool {
		keep(t, j, put("a", "0"))
		return time.Since(began) > d
	})
}

func TestReplicasTakeTurnsAndLoseNothing(t *testing.T) {
	dsn := postgrestest.Database(t)
	want := map[string]string{}
	results := candidates(t.Context(), t, dsn, 3)
	for _, name := range []string{"a", "b", "c"} {
		e := next(t, results)
		if diff := cmp.Diff(want, kept(t, e.j)); diff != "" {
			t.Errorf("leader %s found (-want +got):\n%s", name, diff)
		}
		keep(t, e.j, put(name, "1"))
		want["1 "+name] = "1"
		if err := e.j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGracefulLeaderIsFollowedAtOnce(t *testing.T) {
	dsn := postgrestest.Database(t)
	first := leading(t, dsn)
	results := candidates(t.Context(), t, dsn, 1)
	keepFor(t, first, time.Second)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	next(t, results)
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("it took %s, about as long as without the leader's word", took)
	}
}

func TestCandidateKnowsTheLeader(t *testing.T) {
	dsn := postgrestest.Database(t)
	place, err := postgres.New(postgres.Options{DSN: dsn, URL: "http://first.test"})
	if err != nil {
		t.Fatal(err)
	}
	first := leadingAt(t, place)
	if got := place.Leader(); got != "" {
		t.Errorf("the leader knows another one, %s", got)
	}
	waiting, gone := newPlace(t, dsn), newPlace(t, dsn)
	if got := waiting.Leader(); got != "" {
		t.Errorf("who never looked knows %s", got)
	}
	results := make(chan elected, 1)
	go func() {
		j, err := waiting.Lead(t.Context())
		results <- elected{waiting, j, err}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	var lead sync.WaitGroup
	lead.Go(func() { _, _ = gone.Lead(ctx) })
	for _, place := range []*postgres.Place{waiting, gone} {
		eventually.Until(t, "a candidate knows the leader", func() bool { return place.Leader() == "http://first.test" })
	}
	cancel()
	lead.Wait()
	eventually.Within(t, "who looks no more forgets", 3*time.Second, func() bool { return gone.Leader() == "" })
	if got := waiting.Leader(); got != "http://first.test" {
		t.Errorf("who still looks knows %q", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next(t, results)
	if got := waiting.Leader(); got != "" {
		t.Errorf("the new leader knows another one, %s", got)
	}
}

func TestRestartedReplicaIsNotItsOwnLeader(t *testing.T) {
	dsn := postgrestest.Database(t)
	leading(t, dsn) // as before the restart
	looked := make(chan struct{}, 1)
	jitter := func() float64 {
		select {
		case looked <- struct{}{}:
		default:
		}
		return 0
	}
	restarted, err := postgres.New(postgres.Options{DSN: dsn, URL: url, Jitter: jitter})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var lead sync.WaitGroup
	lead.Go(func() { _, _ = restarted.Lead(ctx) })
	<-looked
	if got := restarted.Leader(); got != "" {
		t.Errorf("it knows %s", got)
	}
	cancel()
	lead.Wait()
}

func TestSamePlaceLeadsAgain(t *testing.T) {
	place := newPlace(t, postgrestest.Database(t))
	first := leadingAt(t, place)
	keep(t, first, put("a", "1"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := leadingAt(t, place)
	if diff := cmp.Diff(map[string]string{"1 a": "1"}, kept(t, second)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestDeletedLeadersRowIsPutBack(t *testing.T) {
	dsn := postgrestest.Database(t)
	admin := administrator(t, dsn)
	epoch := func() (n int64) {
		t.Helper()
		if err := admin.QueryRow(t.Context(), "SELECT epoch FROM fairlead_leases.leader").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := leading(t, dsn)
	keep(t, first, put("a", "1"))
	before := epoch()
	execute(t, admin, "DELETE FROM fairlead_leases.leader")
	for _, who := range []string{"a leader", "a restart"} {
		second := next(t, candidates(t.Context(), t, dsn, 1)).j
		if err := first.Held(); err == nil {
			t.Error("there are two leaders")
		}
		if err := first.Commit(t.Context(), []lease.Change{put("a", "2")}); !errors.Is(err, postgres.ErrDeposed) && !errors.Is(err, postgres.ErrClosed) {
			t.Errorf("the former leader keeps: %v", err)
		}
		keep(t, second, put("b", "1"))
		if diff := cmp.Diff(map[string]string{"1 a": "1", "1 b": "1"}, kept(t, second)); diff != "" {
			t.Errorf("kept after %s (-want +got):\n%s", who, diff)
		}
		after := epoch()
		if after <= before {
			t.Errorf("after %s the epoch is %d, not above %d", who, after, before)
		}
		first, before = second, after
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		execute(t, admin, "DELETE FROM fairlead_leases.leader")
	}
}

func TestTwoSchemasAreTwoPlaces(t *testing.T) {
	dsn := postgrestest.Database(t)
	keep(t, leading(t, dsn), put("a", "1"))
	other, err := postgres.NewIn(`An "odd" one`, postgres.Options{DSN: dsn, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{}, kept(t, leadingAt(t, other))); diff != "" {
		t.Errorf("the other schema has (-want +got):\n%s", diff)
	}
}

func TestRoleNeedsNoRightToMakeWhatIsThere(t *testing.T) {
	dsn := postgrestest.Database(t)
	first := leading(t, dsn)
	keep(t, first, put("a", "1"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	admin := administrator(t, dsn)
	execute(t, admin, "CREATE ROLE limited LOGIN PASSWORD 'limited'")
	t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY limited", "DROP ROLE limited"} {
			if _, err := admin.Exec(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
	})
	execute(t, admin, "GRANT USAGE ON SCHEMA fairlead_leases TO limited")
	execute(t, admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA fairlead_leases TO limited")
	config := admin.Config()
	limited := "host=" + config.Host + " port=" + itoa(config.Port) + " dbname=" + config.Database + " user=limited password=limited sslmode=disable"
	keep(t, leading(t, limited), gone("a"), put("b", "1"))
}
