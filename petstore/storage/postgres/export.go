package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// Export writes all pets, then the queued messages, in the form of storage.Export, for
// Import and storage.Import. They are those of one moment; other calls go on meanwhile.
// It needs little memory for any number of pets.
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
	var line []byte
	err = export(ctx, conn, func(rec storage.ExportRecord) (err error) {
		if line, err = rec.AppendLine(line[:0]); err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			cancel() // otherwise all rows are read
		}
		return err
	})
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

// export calls add with each record.
func export(ctx context.Context, conn *pgx.Conn, add func(storage.ExportRecord) error) error {
	_, err := conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
		SET LOCAL idle_in_transaction_session_timeout = 0`) // the output may pause
	if err != nil {
		return err
	}
	var u update
	if err := conn.QueryRow(ctx, selectState).Scan(&u.number, &u.lastPet, &u.lastMessage, &u.queued, &u.now); err != nil {
		return err
	}
	var p petstore.Pet
	var n storage.ExportEnd
	rows, _ := conn.Query(ctx, selectPets+"ORDER BY id") // ForEachRow returns the error
	_, err = pgx.ForEachRow(rows, columns(&p), func() error {
		n.Pets++
		if p.ID != n.Pets {
			return missingRow(n.Pets)
		}
		return add(storage.ExportRecord{Pet: &p})
	})
	if err != nil {
		return err
	}
	rows, _ = conn.Query(ctx, "SELECT number, made, text FROM petstore.messages ORDER BY number")
	err = forEachMessage(rows, func(m petstore.Message) error {
		n.Messages++
		return add(storage.ExportRecord{Message: &m})
	})
	switch {
	case err != nil:
		return err
	case n.Pets != u.lastPet || n.Messages != u.queued:
		return damaged(fmt.Sprintf("there are %d pets and %d messages, want %d and %d", n.Pets, n.Messages, u.lastPet, u.queued))
	}
	n.LastMessage = u.lastMessage
	return add(storage.ExportRecord{End: &n})
}
