package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

// databaseConfig names the database of the command line.
func databaseConfig(o options) *config.SQL {
	db := &config.SQL{
		PluginName:        sqlite.PluginName,
		DatabaseName:      uriPath(o.DBFilename),
		ConnectAttributes: map[string]string{"mode": "rw"},
	}
	if o.DBFilename == "" {
		db.DatabaseName = "fairlead" + strconv.Itoa(os.Getpid())
		db.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	}
	for name, value := range o.Pragmas {
		db.ConnectAttributes[name] = value
	}
	return db
}

// uriPath escapes what has a meaning in the URI that SQLite opens.
func uriPath(file string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)
}

// prepareDatabase makes the database if there is none, and the namespaces and
// search attributes that it lacks. That is done before the server starts, which
// would take seconds to notice.
func prepareDatabase(ctx context.Context, o options, cfg *config.SQL) error {
	if o.DBFilename != "" {
		if err := makeFile(o.DBFilename, cfg); err != nil {
			return err
		}
	}
	db, err := sql.NewSQLDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("open the database %s: %w", o.DBFilename, err)
	}
	for _, name := range o.Namespaces {
		if err := prepareNamespace(ctx, db, name, o); err != nil {
			return fmt.Errorf("prepare namespace %s in the database %s: %w", name, o.DBFilename, err)
		}
	}
	return db.Close()
}

// makeFile fills a new database next to its place and moves it there, so that a
// crash leaves either none or a whole one.
func makeFile(file string, cfg *config.SQL) error {
	_, err := os.Stat(file)
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("open the database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("create the database's folder: %w", err)
	}
	draftFile := file + ".new"
	draft := *cfg
	draft.DatabaseName = uriPath(draftFile)
	// Without a write-ahead log the draft is one file.
	draft.ConnectAttributes = map[string]string{"mode": "rwc"}
	// A log of a database that is gone would be played into the new one.
	for _, old := range []string{draftFile, draftFile + "-journal", file + "-wal", file + "-shm", file + "-journal"} {
		if err := os.RemoveAll(old); err != nil {
			return fmt.Errorf("remove what is left of an older database: %w", err)
		}
	}
	if err := sqliteschema.SetupSchema(&draft); err != nil {
		return fmt.Errorf("set up the database %s: %w", draftFile, err)
	}
	if err := os.Rename(draftFile, file); err != nil {
		return fmt.Errorf("put the new database in its place: %w", err)
	}
	return nil
}

// closeDatabase empties the write-ahead log into the file, so that the file alone
// is the database. The server's own connection pool never closes.
func closeDatabase(cfg *config.SQL) error {
	db, err := sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	if err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return db.Close()
}
