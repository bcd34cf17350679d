package postgres_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"example.com/fairlead/api/lease/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
)

func TestConnectionThatCannotBeNamesTheFlagAndNoPassword(t *testing.T) {
	const canary = "c4n4ry"
	config := administrator(t, postgrestest.Database(t)).Config()
	server := net.JoinHostPort(config.Host, itoa(config.Port))
	tests := []struct{ name, dsn, want string }{
		{"empty", " \n", "not valid"},
		{"not a connection string", canary, "not valid"},
		{"unknown scheme", "mysql://user:" + canary + "@localhost/db", "not valid"},
		{"an unescaped slash", "postgres://user:" + canary + "/x@localhost/db", "not valid"},
		{"an unescaped percent sign", "postgres://user:" + canary + "%zz@localhost/db", "not valid"},
		{"an unescaped number sign", "postgres://user:" + canary + "#x@127.0.0.1:1/db", "connection refused"},
		{"a space in a value", "host=localhost password='" + canary + " port=x", "not valid"},
		{"a certificate that is not there", "postgres://user:" + canary + "@localhost/db?sslmode=verify-full&sslrootcert=/no/such/file", "/no/such/file"},
		{"no server", "postgres://user:" + canary + "@127.0.0.1:1/db", "connection refused"},
		{"unknown host", "postgres://user:" + canary + "@nowhere.invalid/db", "nowhere.invalid"},
		{"another password", "postgres://" + config.User + ":" + canary + "@" + server + "/db?sslmode=disable", "password authentication failed"},
		{"a server without TLS", "postgres://" + config.User + ":" + canary + "@" + server + "/db?sslmode=require", "TLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := leadOnce(t.Context(), tt.dsn)
			if err == nil {
				t.Fatal("it leads")
			}
			if text := err.Error(); !strings.Contains(text, "--leases-postgres") || !strings.Contains(text, tt.want) || strings.Contains(text, canary) || strings.Contains(text, "\n") {
				t.Errorf("the error must name --leases-postgres and %q, and not the password, in one line: %s", tt.want, text)
			}
		})
	}
}

// leadOnce tries to lead, once.
func leadOnce(ctx context.Context, dsn string) error {
	place, err := postgres.New(postgres.Options{DSN: dsn, URL: url})
	if err != nil {
		return err
	}
	_, err = place.Lead(ctx)
	return err
}

func TestSessionsHaveTheNameOfTheirHolder(t *testing.T) {
	dsn := postgrestest.Database(t)
	leading(t, dsn)
	var sessions int
	err := administrator(t, dsn).QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity JOIN fairlead_leases.leader ON application_name = 'fairlead-lease/' || holder").Scan(&sessions)
	if err != nil || sessions != 1 {
		t.Errorf("%d sessions have the name of the leader, %v", sessions, err)
	}
}
