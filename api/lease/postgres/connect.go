package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// applicationPrefix and the holder are the name of a session.
const applicationPrefix = "fairlead-lease/"

// remedy is what people look at when something about the database fails.
const remedy = "PostgreSQL (see --leases-postgres)"

// A peer that does not answer is given up after about as long as a leader has.
const (
	connectTimeout = 2 * time.Second
	keepAliveIdle  = time.Second
	keepAliveCount = 2
	// goodbyeTimeout is how long a session that ends may take to say so.
	goodbyeTimeout = time.Second
)

var errConnectionString = errors.New("the connection string is not valid: it must be like postgres://user:password@host:5432/database, with special characters as %XX")

// parse makes the settings of each session. Its errors quote nothing of the connection
// string: in one that is not valid, any part may be the password.
func parse(dsn, schema, holder string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(strings.TrimSpace(dsn))
	if err == nil && strings.TrimSpace(dsn) == "" {
		err = errConnectionString // pgx would look into the environment
	}
	if err != nil {
		var file *fs.PathError
		if errors.As(err, &file) {
			return nil, fmt.Errorf("connect to %s: %w", remedy, file)
		}
		return nil, fmt.Errorf("connect to %s: %w", remedy, errConnectionString)
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveIdle, Count: keepAliveCount,
	}}
	config.DialFunc = dialer.DialContext
	for name, value := range map[string]string{
		"application_name": applicationPrefix + holder,
		"search_path":      pgx.Identifier{schema}.Sanitize(),
		// What is acknowledged is on disk, whatever the server's default is.
		"synchronous_commit": "on",
		// Statements look at the leader's row again after they waited for it.
		"default_transaction_isolation": "read committed",
		// A process that is stopped or cut off leaves nothing locked for long.
		"lock_timeout":                        "1s",
		"statement_timeout":                   "3s",
		"idle_in_transaction_session_timeout": "1s",
		"tcp_keepalives_idle":                 "1",
		"tcp_keepalives_interval":             "1",
		"tcp_keepalives_count":                "2",
		"tcp_user_timeout":                    "3s",
		// Plans are kept for long: one made while the tables were small must not read all of
		// them when they are large.
		"enable_seqscan": "off",
		"jit":            "off",
	} {
		config.RuntimeParams[name] = value
	}
	return config, nil
}

func (p *Place) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, p.config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w: check that the server runs, and the connection string", remedy, reason(err))
	}
	return conn, nil
}

// reason is why no connection could be made, without the parts of the connection string that
// pgx puts before it, and once where each address was tried with and without TLS.
func reason(err error) error {
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		err = failed.Unwrap()
	}
	var tries interface{ Unwrap() []error }
	if !errors.As(err, &tries) {
		return err
	}
	var different []error
	for _, try := range tries.Unwrap() {
		if !slices.ContainsFunc(different, func(e error) bool { return e.Error() == try.Error() }) {
			different = append(different, try)
		}
	}
	return errors.Join(different...)
}

// disconnect ends a session; one that does not hear of it ends by its keepalives.
func disconnect(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}
