package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// The path of a create:
//
//	CreatePet       pet.go     validate; hash the pet if there is an idempotency key
//	└ update        queue.go   queue the change; wait for its result
//	commitAll       queue.go   take the changes that wait: a batch
//	└ commit        commit.go  try until there is a result
//	  └ attempt     commit.go  one transaction, two round trips:
//	    ├ lock      commit.go  BEGIN, lock the row, read the state and known outcomes
//	    ├ apply     commit.go  set the result of each change: a new ID, or that of an outcome
//	    └ insert    commit.go  insert the rows and the new state, COMMIT
//
// Each attempt of each process locks the row of petstore.store. So one that looks for an
// earlier commit waits until that was carried out or has failed.

// receipt identifies a commit whose response was lost.
type receipt struct {
	number int64
	token  pgtype.UUID
}

// commit commits a batch in one transaction. It tries again, on another connection,
// until it has the result or no caller waits any longer.
func (s *Store) commit(batch []*change) {
	var lost *receipt
	var err error
	for try := 0; ; try++ {
		if batch = s.mark(batch, lost != nil, err); len(batch) == 0 {
			return
		}
		var done []*change
		if done, err = s.attempt(batch, &lost); err == nil {
			for _, c := range done {
				close(c.done)
			}
			return
		}
		if lost == nil && !transient(err) {
			for _, c := range batch {
				c.err = explain(err)
				close(c.done)
			}
			return
		}
		pause(s.context, try)
	}
}

// attempt tries to commit changes in one transaction. It returns those that were
// committed, without those whose callers have gone. If the response to COMMIT is lost,
// it sets lost, and the next attempt looks whether that commit was carried out.
//
// An attempt that only looks something up commits, too: a transaction that has locked a
// row waits for the standby, so what it has found is on the standby.
func (s *Store) attempt(changes []*change, lost **receipt) ([]*change, error) {
	ctx, cancel := context.WithTimeout(s.context, s.timeout)
	defer cancel()
	pooled, err := s.single.Acquire(ctx)
	if err != nil {
		return nil, connError{err}
	}
	defer pooled.Release() // closes it if the transaction has not ended
	conn := pooled.Conn()
	tx, found, err := s.lock(ctx, conn, changes, *lost)
	if err != nil {
		return nil, err
	}
	var b pgx.Batch
	if !found {
		*lost = nil
		changes = s.mark(changes, true, nil)
		for _, c := range changes {
			tx.apply(c, s.capacity)
		}
		if len(tx.pets)+len(tx.messages)+len(tx.remove) > 0 {
			*lost = &receipt{tx.number + 1, newToken()}
			tx.insert(&b)
			tx.end(&b, *lost)
		}
	}
	b.Queue("COMMIT")
	forgetNotice(conn)
	err = conn.SendBatch(ctx, &b).Close()
	switch {
	case err == nil:
		return changes, s.confirmed(conn)
	case conn.IsClosed():
		return nil, connError{fmt.Errorf("the response to COMMIT was lost: %v", err)}
	case !found: // PostgreSQL reports that it has not committed
		*lost = nil
	}
	return nil, err
}

func newToken() pgtype.UUID {
	token := pgtype.UUID{Valid: true}
	rand.Read(token.Bytes[:]) // never fails
	return token
}

// outcome is a row of petstore.outcomes.
type outcome struct {
	digest, hash []byte
	pet, message int64 // one of them is 0
	made         time.Time
}

// expired reports whether o need not be remembered any longer.
func (o *outcome) expired(now time.Time) bool {
	return now.Sub(o.made) > petstore.IdempotencyWindow
}

// state is the state of the store: the row of petstore.commits with the highest number.
type state struct {
	number, stored, lastPet, lastMessage, queued int64
	now                                          time.Time // when it was read
}

const selectState = "SELECT number, pets, last_pet, last_message, queued, clock_timestamp() FROM petstore.commits ORDER BY number DESC LIMIT 1"

// scan reads the row of selectState.
func (s *state) scan(row pgx.Row) error {
	return row.Scan(&s.number, &s.stored, &s.lastPet, &s.lastMessage, &s.queued, &s.now)
}

// writeTx is the transaction that writes a batch: what it has read, and then what it will write.
type writeTx struct {
	state
	outcomes map[string]outcome // by digest

	pets, messages []*change // those that create something
	keyed          []outcome // that are new
	remove         []int64   // numbers of messages
}

const selectOutcomes = "SELECT digest, hash, pet, message, made FROM petstore.outcomes "

// forEachOutcome calls do with the outcome of each row of selectOutcomes.
func forEachOutcome(rows pgx.Rows, do func(outcome) error) error {
	var o outcome
	_, err := pgx.ForEachRow(rows, []any{&o.digest, &o.hash, &o.pet, &o.message, &o.made}, func() error { return do(o) })
	return err
}

// lock begins a transaction, takes the lock, and reads the state and the outcomes
// of the changes. found reports whether the commit of lost was carried out. lock fails if
// that cannot be known any more.
func (s *Store) lock(ctx context.Context, conn *pgx.Conn, changes []*change, lost *receipt) (tx *writeTx, found bool, err error) {
	tx = &writeTx{outcomes: make(map[string]outcome)}
	var digests [][]byte
	for _, c := range changes {
		if c.digest != nil {
			digests = append(digests, c.digest)
		}
	}
	var b pgx.Batch
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	b.Queue("SELECT version FROM petstore.store FOR UPDATE").QueryRow(checkVersion)
	b.Queue(selectState).QueryRow(tx.scan)
	if digests != nil {
		b.Queue(selectOutcomes+"WHERE digest = ANY($1)", digests).Query(func(rows pgx.Rows) error {
			return forEachOutcome(rows, func(o outcome) error {
				tx.outcomes[string(o.digest)] = o
				return nil
			})
		})
	}
	if lost != nil {
		b.Queue("SELECT token = $2 FROM petstore.commits WHERE number = $1", lost.number, lost.token).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&found)
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if tx.number >= lost.number { // this process has been stopped for long
				return connError{errors.New("the row of the commit has expired")}
			}
			return nil
		})
	}
	err = conn.SendBatch(ctx, &b).Close()
	return tx, found, err
}

// apply sets the result of a change, and notes what to write for it.
func (tx *writeTx) apply(c *change, capacity int64) {
	c.err = nil
	if o, ok := tx.outcomes[string(c.digest)]; ok && !o.expired(tx.now) {
		if c.number, c.made = max(o.pet, o.message), o.made; !bytes.Equal(o.hash, c.hash) {
			c.err = petstore.ErrIdempotencyMismatch
		}
		return
	}
	c.made = tx.now
	o := outcome{digest: c.digest, hash: c.hash, made: c.made}
	switch {
	case c.pet != nil && tx.lastPet == math.MaxInt64, c.message != nil && tx.lastMessage == math.MaxInt64:
		c.err = rules.ErrNoIDs
		return
	case c.pet != nil:
		tx.stored++
		tx.lastPet++
		c.number, o.pet = tx.lastPet, tx.lastPet
		tx.pets = append(tx.pets, c)
	case c.message != nil:
		if tx.queued >= capacity {
			c.err = petstore.ErrQueueFull
			return
		}
		tx.queued++
		tx.lastMessage++
		c.number, o.message = tx.lastMessage, tx.lastMessage
		tx.messages = append(tx.messages, c)
	default:
		tx.remove = append(tx.remove, c.remove...)
	}
	if c.digest != nil {
		tx.outcomes[string(c.digest)] = o
		tx.keyed = append(tx.keyed, o)
	}
}

// insert adds the statements that insert what is new. Rows are sent as an array for
// each column.
func (tx *writeTx) insert(b *pgx.Batch) {
	if len(tx.pets) > 0 {
		var ids []int64
		var statuses []string
		var pets [][]byte
		for _, c := range tx.pets {
			json, _ := petstore.Pet{ID: c.number, NewPet: *c.pet}.AppendJSON(nil) // it is valid
			ids, statuses, pets = append(ids, c.number), append(statuses, string(c.pet.Status)), append(pets, json)
		}
		b.Queue(`INSERT INTO petstore.pets (id, status, pet)
			SELECT id, nullif(status, ''), pet FROM unnest($1::bigint[], $2::text[], $3::json[]) AS p (id, status, pet)`,
			ids, statuses, pets)
	}
	if len(tx.messages) > 0 {
		var numbers []int64
		var texts [][]byte
		var made []time.Time
		for _, c := range tx.messages {
			numbers, texts, made = append(numbers, c.number), append(texts, []byte(*c.message)), append(made, c.made)
		}
		b.Queue(`INSERT INTO petstore.messages (number, text, made)
			SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::timestamptz[])`, numbers, texts, made)
	}
	if len(tx.keyed) > 0 {
		var digests, hashes [][]byte
		var pets, messages []int64
		var made []time.Time
		for _, o := range tx.keyed {
			digests, hashes = append(digests, o.digest), append(hashes, o.hash)
			pets, messages, made = append(pets, o.pet), append(messages, o.message), append(made, o.made)
		}
		b.Queue(`INSERT INTO petstore.outcomes (digest, hash, pet, message, made)
			SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::timestamptz[])
			ON CONFLICT (digest) DO UPDATE
			SET hash = excluded.hash, pet = excluded.pet, message = excluded.message, made = excluded.made`,
			digests, hashes, pets, messages, made)
	}
}

// end adds the statement that removes messages and writes the new state.
func (tx *writeTx) end(b *pgx.Batch, r *receipt) {
	b.Queue(`WITH removed AS (DELETE FROM petstore.messages WHERE number = ANY($1) RETURNING 1)
		INSERT INTO petstore.commits (number, token, made, pets, last_pet, last_message, queued)
		SELECT $2, $3, $4, $5, $6, $7, $8 - count(*) FROM removed`,
		tx.remove, r.number, r.token, tx.now, tx.stored, tx.lastPet, tx.lastMessage, tx.queued)
}
