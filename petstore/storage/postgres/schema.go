package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
)

//go:embed schema.sql
var schema string

// schemaVersion is the version of the tables in schema.sql.
const schemaVersion = 1

// prepare creates the tables, unless another server does so at the same time or has
// done so, and makes sure that this package knows their version. A role that may not
// create tables can use those that another role has created.
func (s *Store) prepare(ctx context.Context) error {
	const lock = 0x7065_7473 // "pets", the same for all servers
	return s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if encoding := conn.PgConn().ParameterStatus("server_encoding"); encoding != "UTF8" { // it may lack characters of names
			return petstore.Errorf(petstore.CodeInternal, "the encoding of the database is %s, must be UTF8: use one that was created with ENCODING 'UTF8' TEMPLATE template0", encoding)
		}
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			var exists bool
			_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock)
			if err == nil { // to_regclass would not see what was created since the transaction began
				err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'petstore' AND tablename = 'store')").Scan(&exists)
			}
			if err == nil && !exists {
				if _, err = tx.Exec(ctx, schema); err == nil {
					_, err = tx.Exec(ctx, "INSERT INTO petstore.store (version) VALUES ($1)", schemaVersion)
				}
				if err != nil {
					err = fmt.Errorf("creating the tables: %w", err)
				}
			}
			var version int64
			if err == nil {
				err = tx.QueryRow(ctx, "SELECT version FROM petstore.store, petstore.commits LIMIT 1").Scan(&version) // neither is empty
			}
			if err == nil && version != schemaVersion {
				err = errVersion(version)
			}
			return err
		})
	})
}

func errVersion(version int64) error {
	return damaged(fmt.Sprintf("the tables have the version %d; this program knows only version %d", version, schemaVersion))
}
