package postgres

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// importRows is how many rows one statement of an import inserts. Each may have
// petstore.MaxTextBytes.
const importRows = 100

// Import adds what storage.Export wrote, with all IDs, to a store that has never held a pet or
// a message: all of it in one transaction, or nothing. It returns how many records it added,
// without the outcomes that have expired. The error wraps storage.ErrMalformed if r is not a
// whole and unchanged export.
//
// Creates of other processes wait for it, and fail at their time limit. Without a standby that
// the database waits for, Import waits, too. Only if the response to COMMIT is lost, the error
// does not say that nothing was imported.
func (s *Store) Import(ctx context.Context, r io.Reader) (storage.Totals, error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return storage.Totals{}, explain(connError{err})
	}
	defer pooled.Release() // closes it if the transaction has not ended
	conn := pooled.Conn()
	got, err := s.importAll(ctx, conn, r)
	if err != nil {
		return storage.Totals{}, fmt.Errorf("nothing was imported: %w", err)
	}
	forgetNotice(conn)
	if _, err = conn.Exec(ctx, "COMMIT"); err == nil {
		err = s.confirmed(conn)
	}
	if err != nil {
		return storage.Totals{}, fmt.Errorf("all or nothing was imported: the response to COMMIT was lost: %w", err)
	}
	return got, nil
}

func (s *Store) importAll(ctx context.Context, conn *pgx.Conn, r io.Reader) (got storage.Totals, err error) {
	tx, _, err := s.lock(ctx, conn, nil, nil)
	if err == nil && (tx.lastPet > 0 || tx.lastMessage > 0) {
		err = fmt.Errorf("the store has had pets up to ID %d and %d messages; it must never have had any: use a new database", tx.lastPet, tx.lastMessage)
	}
	if err == nil { // the input may pause
		_, err = conn.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	}
	if err != nil {
		return got, explain(err)
	}
	flush := func() error {
		var b pgx.Batch
		tx.insert(&b)
		tx.pets, tx.messages, tx.keyed = tx.pets[:0], tx.messages[:0], tx.keyed[:0]
		return explain(conn.SendBatch(ctx, &b).Close())
	}
	for records := lines.NewReader(r); ; {
		rec, err := records.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return got, err
		}
		switch {
		case rec.Pet != nil:
			got.Pets++
			tx.pets = append(tx.pets, &change{pet: &rec.Pet.NewPet, number: rec.Pet.ID})
		case rec.Message != nil:
			got.Messages++
			n, _ := rules.ParseMessageID(rec.Message.ID)
			tx.messages = append(tx.messages, &change{message: &rec.Message.Text, number: n, made: rec.Message.CreatedAt})
		case rec.Outcome != nil:
			o := outcome{rec.Outcome.Key[:], rec.Outcome.Value[:], rec.Outcome.Pet, rec.Outcome.Message, time.UnixMicro(rec.Outcome.Created)}
			if !o.expired(tx.now) {
				got.Outcomes++
				tx.keyed = append(tx.keyed, o)
			}
		default:
			tx.stored, tx.lastPet, tx.lastMessage, tx.queued = got.Pets, rec.End.LastPet, rec.End.LastMessage, got.Messages
		}
		if len(tx.pets)+len(tx.messages)+len(tx.keyed) == importRows {
			if err := flush(); err != nil {
				return got, err
			}
		}
	}
	if err := flush(); err != nil {
		return got, err
	}
	var b pgx.Batch
	tx.end(&b, &receipt{tx.number + 1, newToken()})
	return got, explain(conn.SendBatch(ctx, &b).Close())
}
