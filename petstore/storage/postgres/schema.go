package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// schemaVersion is the version of the tables in schema.sql.
const schemaVersion = 1

//go:embed schema.sql
var schema string

// prepare creates the tables if there are none, and makes sure that this package
// knows their version. A role that may not create tables can use those that
// another role has created.
func (s *Store) prepare(ctx context.Context) error {
	return s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var commit, standbys, fsync string
		var exists bool
		err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
			current_setting('fsync'), `+exist).Scan(&commit, &standbys, &fsync, &exists)
		if err != nil {
			return err
		}
		if !exists {
			if err := create(ctx, conn); err != nil {
				return fmt.Errorf("creating the tables: %w", err)
			}
		}
		var version int
		err = conn.QueryRow(ctx, "SELECT version FROM petstore.store, petstore.commits LIMIT 1").Scan(&version) // neither is empty
		if err != nil {
			return err
		}
		if version != schemaVersion {
			return errVersion(version)
		}
		if standbys == "" || commit != "on" && commit != "remote_apply" || fsync != "on" {
			s.log.Warn("settings of the database can lose acknowledged changes, in a failover or a crash",
				"synchronous_standby_names", standbys, "synchronous_commit", commit, "fsync", fsync)
		}
		return nil
	})
}

func errVersion(version int) error {
	return damaged(fmt.Sprintf("the tables have the version %d; this program knows only version %d", version, schemaVersion))
}

// exist is a condition: the tables exist. To_regclass does not see what another
// server has created since the transaction began.
const exist = "EXISTS (SELECT FROM pg_tables WHERE schemaname = 'petstore' AND tablename = 'store')"

// create creates the tables, unless another server does so at the same time.
func create(ctx context.Context, conn *pgx.Conn) error {
	const lock = 0x7065_7473 // "pets", the same for all servers
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		exists := false
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock)
		if err == nil {
			err = tx.QueryRow(ctx, "SELECT "+exist).Scan(&exists)
		}
		if err == nil && !exists {
			_, err = tx.Exec(ctx, schema)
		}
		return err
	})
}
