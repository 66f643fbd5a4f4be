package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore/internal/stores"
	"example.com/animalstore/petstore/storage"
)

// One statement of an import inserts at most so many rows, and about so many bytes of text.
const (
	importRows  = 500
	importBytes = 4 << 20
)

// Import adds the pets and messages that storage.Export wrote, with their IDs, to a
// store that has never held any: all of them in one transaction, or none. It returns
// how many it added. Creates of other processes wait for it, and fail at their time
// limit. Without a standby that the database waits for, Import waits, too. Only if the
// response to COMMIT is lost, the error does not say that nothing was imported.
func (s *Store) Import(ctx context.Context, r io.Reader) (storage.Totals, error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return storage.Totals{}, explain(connError{err})
	}
	defer pooled.Release() // closes it if the transaction has not ended
	conn := pooled.Conn()
	u, err := s.importAll(ctx, conn, r)
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
	return storage.Totals{Pets: u.lastPet, Messages: u.queued}, nil
}

func (s *Store) importAll(ctx context.Context, conn *pgx.Conn, r io.Reader) (*update, error) {
	u, _, err := s.lock(ctx, conn, nil, nil)
	if err == nil && (u.lastPet > 0 || u.lastMessage > 0) {
		err = fmt.Errorf("the store holds %d pets and has had %d messages; must be empty", u.lastPet, u.lastMessage)
	}
	if err == nil { // the input may pause
		_, err = conn.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	}
	if err != nil {
		return nil, explain(err)
	}
	size := 0 // of the texts that wait
	flush := func() error {
		size = 0
		var b pgx.Batch
		u.insert(&b)
		u.pets, u.messages = u.pets[:0], u.messages[:0]
		return explain(conn.SendBatch(ctx, &b).Close())
	}
	for rec, err := range storage.ReadExport(r, nil) {
		if err != nil {
			return nil, err
		}
		switch p, m := rec.Pet, rec.Message; {
		case p != nil:
			u.lastPet = p.ID
			size += len(p.Name)
			u.pets = append(u.pets, &change{pet: &p.NewPet, number: p.ID})
		case m != nil:
			n, _ := stores.ParseMessageID(m.ID)
			u.lastMessage, u.queued = n, u.queued+1
			size += len(m.Text)
			u.messages = append(u.messages, &change{message: &m.Text, number: n, made: m.CreatedAt})
		default:
			u.lastMessage = max(u.lastMessage, rec.End.LastMessage)
		}
		if len(u.pets)+len(u.messages) >= importRows || size >= importBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	var b pgx.Batch
	u.end(&b, &receipt{u.number + 1, newToken()})
	return u, explain(conn.SendBatch(ctx, &b).Close())
}
