package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
)

// envLead makes the test program a replica that leads in the database of that connection
// string.
const envLead = "POSTGRES_TEST_LEAD"

const (
	url = "http://replica.test"

	// leadTimeout is for those that nobody is in the way of for long.
	leadTimeout = 10 * time.Second
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(envLead); dsn != "" {
		_, _ = fmt.Fprintln(os.Stdout, "error", lead(dsn))
		os.Exit(1)
	}
	os.Exit(postgrestest.Main(m))
}

// lead keeps one thing after the other and tells each that was acknowledged, until one
// is not.
func lead(dsn string) error {
	ctx := context.Background()
	place, err := postgres.New(postgres.Options{DSN: dsn, URL: url})
	if err != nil {
		return err
	}
	j, err := place.Lead(ctx)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := j.Commit(ctx, []lease.Change{put("n", strconv.Itoa(i)), put("n/"+strconv.Itoa(i), "kept")}); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(os.Stdout, "kept", i); err != nil {
			return err
		}
		time.Sleep(time.Millisecond) // the load of the test, nothing to wait for
	}
}

func newPlace(t testing.TB, dsn string) *postgres.Place {
	t.Helper()
	place, err := postgres.New(postgres.Options{DSN: dsn, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// leading gives the journal of a new replica once it leads.
func leading(t testing.TB, dsn string) lease.Journal {
	t.Helper()
	return leadingAt(t, newPlace(t, dsn))
}

func leadingAt(t testing.TB, place *postgres.Place) lease.Journal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), leadTimeout)
	defer cancel()
	j, err := place.Lead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // tests that care close it themselves
	return j
}

func put(key, value string) lease.Change {
	return lease.Change{Kind: 1, Key: key, Value: []byte(value)}
}

func gone(key string) lease.Change { return lease.Change{Kind: 1, Key: key} }

func keep(t testing.TB, j lease.Journal, changes ...lease.Change) {
	t.Helper()
	if err := j.Commit(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// kept are the values in j, by kind and key.
func kept(t testing.TB, j lease.Journal) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := j.Load(t.Context(), func(c lease.Change) error {
		id := fmt.Sprintf("%d %s", c.Kind, c.Key)
		if before, twice := got[id]; twice {
			return fmt.Errorf("%s is there twice, once with %q", id, before)
		}
		got[id] = string(c.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// administrator is a session that is not of a Place.
func administrator(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // nobody waits for it
	return conn
}

func execute(t testing.TB, conn *pgx.Conn, statement string, arguments ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, arguments...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
