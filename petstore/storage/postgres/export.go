package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// Export writes all pets, the queued messages, the outcomes of idempotency keys and the next
// ID of each kind, as storage.Export does, for Import and storage.Import. They are those of
// one moment; other calls go on meanwhile. It needs little memory for any number of pets.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return explain(connError{err})
	}
	defer pooled.Release() // closes it, as the transaction does not end
	conn := pooled.Conn()
	out := bufio.NewWriterSize(w, 1<<16)
	if err = export(ctx, conn, lines.NewWriter(out)); err != nil {
		cancel() // otherwise all rows are read
	}
	if err == nil {
		err = s.current(conn.PgConn())
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("the export is not complete: %w", explain(err))
	}
	return nil
}

// export writes all records.
func export(ctx context.Context, conn *pgx.Conn, out *lines.Writer) error {
	_, err := conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
		SET LOCAL idle_in_transaction_session_timeout = 0`) // the output may pause
	if err != nil {
		return err
	}
	var tx writeTx
	if err := conn.QueryRow(ctx, selectState).Scan(&tx.number, &tx.lastPet, &tx.lastMessage, &tx.queued, &tx.now); err != nil {
		return err
	}
	var pets int64
	if err := conn.QueryRow(ctx, selectStats).Scan(&pets, &tx.queued); err != nil {
		return err
	}
	if err := exportPets(ctx, conn, out); err != nil {
		return err
	}
	rows, _ := conn.Query(ctx, "SELECT number, made, text FROM petstore.messages ORDER BY number") // ForEachRow returns the error
	err = forEachMessage(rows, func(m petstore.Message) error { return out.Message(&m) })
	switch {
	case err != nil:
		return err
	case out.Pets != pets || out.Messages != tx.queued:
		return damaged(fmt.Sprintf("there are %d pets and %d messages, want %d and %d", out.Pets, out.Messages, pets, tx.queued))
	}
	rows, _ = conn.Query(ctx, selectOutcomes+"WHERE made >= $1 ORDER BY digest", tx.now.Add(-petstore.IdempotencyWindow))
	err = forEachOutcome(rows, func(o outcome) error {
		return out.Outcome(&lines.Outcome{
			Key:     [32]byte(o.digest),
			Value:   [32]byte(o.hash),
			Pet:     o.pet,
			Message: o.message,
			Created: o.made.UTC(),
		})
	})
	if err != nil {
		return err
	}
	return out.End(tx.lastPet, tx.lastMessage, tx.now)
}

// exportPets writes all pets.
func exportPets(ctx context.Context, conn *pgx.Conn, out *lines.Writer) error {
	var p petstore.Pet
	var json []byte
	rows, _ := conn.Query(ctx, selectPets+"ORDER BY id") // ForEachRow returns the error
	_, err := pgx.ForEachRow(rows, columns(&p), func() (err error) {
		if json, err = p.AppendJSON(json[:0]); err != nil {
			return damaged(fmt.Sprintf("the pet %d: %v", p.ID, err))
		}
		return out.Pet(json)
	})
	return err
}
