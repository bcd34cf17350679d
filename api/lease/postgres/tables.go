package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// tables are made in one transaction, so all are there if leader is. Keys are bytes, as they
// may have any. Statements name them without the schema, which is the search path.
const tables = `
CREATE TABLE IF NOT EXISTS state (
	kind  smallint NOT NULL,
	key   bytea NOT NULL,
	value bytea NOT NULL,
	PRIMARY KEY (kind, key)
);
CREATE TABLE IF NOT EXISTS leader (
	one        boolean PRIMARY KEY DEFAULT true CHECK (one),
	epoch      bigint NOT NULL,
	holder     text NOT NULL,
	url        text NOT NULL,
	expires_at timestamptz NOT NULL
);
INSERT INTO leader (epoch, holder, url, expires_at) VALUES (0, '', '', 'epoch') ON CONFLICT DO NOTHING;`

// existing tells whether there are the schema and the tables. IF NOT EXISTS asks for the right
// to make what is there already, which another role may have made.
const existing = `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($1 || '.leader') IS NOT NULL`

// raced are the codes with which IF NOT EXISTS fails when another session makes the same:
// unique_violation of a catalogue, duplicate_schema, duplicate_table, duplicate_object, and
// lock_not_available while that one takes its time.
var raced = []string{"23505", "42P06", "42P07", "42710", lockNotAvailable}

// createTries is how often what others make at the same time is looked at again.
const createTries = 5

// ensureTables makes the tables unless they are there, whoever else does so now.
func (p *Place) ensureTables(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, createTries*callTimeout)
	defer cancel()
	var err error
	for range createTries {
		err = p.createTables(ctx, conn)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || !slices.Contains(raced, refused.Code) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("make the tables in schema %s: %w", p.options.schema, err)
	}
	return nil
}

func (p *Place) createTables(ctx context.Context, conn *pgx.Conn) error {
	schema := pgx.Identifier{p.options.schema}.Sanitize()
	var hasSchema, hasTables bool
	if err := conn.QueryRow(ctx, existing, schema).Scan(&hasSchema, &hasTables); err != nil {
		return err
	}
	if hasTables {
		return nil
	}
	statements := tables
	if !hasSchema {
		statements = "CREATE SCHEMA IF NOT EXISTS " + schema + ";" + tables
	}
	// Several statements without arguments are one transaction.
	_, err := conn.Exec(ctx, statements)
	return err
}
