package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

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
	var want state
	if err := want.scan(conn.QueryRow(ctx, selectState)); err != nil {
		return err
	}
	var pet pgtype.DriverBytes
	rows, _ := conn.Query(ctx, "SELECT pet FROM petstore.pets ORDER BY id") // ForEachRow returns the error
	if _, err = pgx.ForEachRow(rows, []any{&pet}, func() error { return out.Pet(pet) }); err != nil {
		return err
	}
	rows, _ = conn.Query(ctx, selectMessages) // ForEachRow returns the error
	err = forEachMessage(rows, func(m petstore.Message) error { return out.Message(&m) })
	switch {
	case err != nil:
		return err
	case out.Pets != want.stored || out.Messages != want.queued:
		return damaged(fmt.Sprintf("there are %d pets and %d messages, want %d and %d", out.Pets, out.Messages, want.stored, want.queued))
	}
	rows, _ = conn.Query(ctx, selectOutcomes+"WHERE made >= $1 ORDER BY digest", want.now.Add(-petstore.IdempotencyWindow))
	err = forEachOutcome(rows, func(o outcome) error {
		return out.Outcome(&lines.Outcome{
			Key:     [32]byte(o.digest),
			Value:   [32]byte(o.hash),
			Pet:     o.pet,
			Message: o.message,
			Created: o.made.UnixMicro(),
		})
	})
	if err != nil {
		return err
	}
	return out.End(want.lastPet, want.lastMessage)
}
