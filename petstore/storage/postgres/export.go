package postgres

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// Export writes all pets, then the queued messages, in the form of storage.Export, for
// Import and storage.Import. They are those of one moment; other calls go on meanwhile.
// It returns how many it wrote, and needs little memory for any number of pets.
func (s *Store) Export(ctx context.Context, w io.Writer) (totals storage.Totals, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return totals, explain(connError{err})
	}
	defer conn.Release()
	ctx, cancel := context.WithCancelCause(ctx) // otherwise all rows are read after an error of w
	defer cancel(nil)
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		totals, err = export(ctx, tx, func(line []byte) error {
			_, err := w.Write(line)
			if err != nil {
				cancel(err)
			}
			return err
		})
		return err
	})
	if err == nil {
		err = s.current(conn.Conn().PgConn())
	}
	if err != nil {
		return totals, fmt.Errorf("the export is not complete: %w", explain(cmp.Or(context.Cause(ctx), err)))
	}
	return totals, nil
}

func export(ctx context.Context, tx pgx.Tx, write func([]byte) error) (n storage.Totals, err error) {
	var line []byte
	add := func(rec storage.ExportRecord) error {
		if line, err = rec.AppendLine(line[:0]); err != nil {
			return err
		}
		return write(line)
	}
	if _, err := tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil { // the output may pause
		return n, err
	}
	var u update
	if err := tx.QueryRow(ctx, selectState).Scan(&u.number, &u.lastPet, &u.lastMessage, &u.queued, &u.now); err != nil {
		return n, err
	}
	var p petstore.Pet
	rows, _ := tx.Query(ctx, selectPets+"ORDER BY id") // ForEachRow returns the error
	_, err = pgx.ForEachRow(rows, columns(&p), func() error {
		n.Pets++
		if p.ID != n.Pets {
			return missingRow(n.Pets)
		}
		return add(storage.ExportRecord{Pet: &p})
	})
	if err != nil {
		return n, err
	}
	rows, _ = tx.Query(ctx, "SELECT number, made, text FROM petstore.messages ORDER BY number")
	err = forEachMessage(rows, func(m petstore.Message) error {
		n.Messages++
		return add(storage.ExportRecord{Message: &m})
	})
	switch {
	case err != nil:
		return n, err
	case n.Pets != u.lastPet || n.Messages != u.queued:
		return n, damaged(fmt.Sprintf("there are %d pets and %d messages, want %d and %d", n.Pets, n.Messages, u.lastPet, u.queued))
	}
	return n, add(storage.ExportRecord{End: &storage.ExportEnd{Pets: n.Pets, Messages: n.Messages, LastMessage: u.lastMessage}})
}
