package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
)

//go:embed schema.sql
var schema string

// schemaVersion is the version of the tables in schema.sql.
const schemaVersion = 1

// prepare creates the tables, unless they must exist or another server has created
// them, and makes sure that this package knows their version. A role that may not
// create tables can use those that another role has created.
func (s *Store) prepare(ctx context.Context, mustExist bool) error {
	const lock = 0x7065_7473 // "pets", the same for all servers
	return s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if encoding := conn.PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" { // it may lack characters of names
			return petstore.Errorf(petstore.CodeInternal, "the encoding of the database is %s, must be UTF8: use one that was created with ENCODING 'UTF8' TEMPLATE template0", encoding)
		}
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock); err != nil {
				return err
			}
			var exists bool // to_regclass would not see what was created since the transaction began
			err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'petstore' AND tablename = 'store')").Scan(&exists)
			switch {
			case err != nil:
				return err
			case !exists && mustExist:
				return noTables(conn.Config().Database)
			case !exists:
				if _, err := tx.Exec(ctx, fmt.Sprintf("%s INSERT INTO petstore.store VALUES (%d)", schema, schemaVersion)); err != nil {
					return fmt.Errorf("creating the tables: %w", err)
				}
			}
			return checkVersion(tx.QueryRow(ctx, "SELECT version FROM petstore.store, petstore.commits LIMIT 1")) // neither is empty
		})
	})
}

// checkVersion returns an error unless the version in row is that of this package.
func checkVersion(row pgx.Row) error {
	var version int64
	if err := row.Scan(&version); err != nil || version == schemaVersion {
		return err
	}
	return damaged(fmt.Sprintf("the tables have the version %d; this program knows only version %d", version, schemaVersion))
}

// noTables is the name of a database in which the tables must exist, and do not.
type noTables string

func (name noTables) Error() string { return fmt.Sprintf("the database %s has no store", string(name)) }

func (noTables) Unwrap() error { return fs.ErrNotExist }
