package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// schema is the version of the layout in doc.go.
const schema = 3

var stateKey = []byte("state")

// state is the only record of the table petstore. Each transaction reads it and
// stores it again, together with what it counts. Its fields are stored in this
// order; the first one is the same in every version.
type state struct {
	Schema int64 // the version of the file's layout

	Pets    int64    // how many there are
	LastPet int64    // the highest ID that was issued; an import may leave out some
	LastIDs [4]int64 // the highest ID in each of petTables; 0 if there is none

	LastMessage int64 // the highest number of a message that was issued
	Queued      int64 // messages in the queue
}

// known reports whether the state was read.
func (s *state) known() bool { return s.Schema != 0 }

// store stores the state in the bucket of stateTable.
func (s state) store(b bucket) error {
	body, err := binary.Append(nil, binary.BigEndian, s)
	if err != nil {
		return err
	}
	return b.put(stateKey, body)
}

// transaction is a transaction of bbolt, with what each call needs of it: a snapshot for
// reads, or an update.
type transaction struct {
	*bbolt.Tx
	state
	pets       [4]bucket // of petTables
	lastBlocks [4]block  // of pets; in an update, with the pets that were added
}

// table looks up a table that only some calls need. It panics if the bucket is missing, so
// the caller must be run by safely.
func (tx *transaction) table(t *table) bucket {
	b := tx.Bucket(t.name)
	if b == nil {
		panic(fmt.Sprintf("the bucket %s is missing", t.name))
	}
	return bucket{t, b}
}

// newTransaction looks up the tables that each call needs. Those that are missing are nil.
func newTransaction(tx *bbolt.Tx) (*transaction, error) {
	t := &transaction{Tx: tx}
	found := false
	for i := range petTables {
		t.pets[i] = bucket{&petTables[i], tx.Bucket(petTables[i].name)}
		found = found || t.pets[i].Bucket != nil
	}
	if !found {
		return nil, fmt.Errorf("%w, or its root is damaged and only a backup helps", ErrNotPetstore)
	}
	return t, nil
}

// readState reads the state and the last blocks, which must agree with it.
func (tx *transaction) readState() error {
	body, err := stateTable.open(stateKey, tx.table(&stateTable).Get(stateKey))
	switch {
	case err != nil:
		return err
	case int64At(body) > schema:
		return fmt.Errorf("%w: its schema is version %d, and this one knows %d", ErrNewer, int64At(body), schema)
	case int64At(body) < schema:
		return fmt.Errorf("the file has schema %d, which no release has; export it with the build that wrote it, and import it", int64At(body))
	}
	if _, err := binary.Decode(body, binary.BigEndian, &tx.state); err != nil {
		return err
	}
	for i, b := range tx.pets {
		if tx.lastBlocks[i], err = b.lastBlock(); err != nil {
			return err
		}
		if last := tx.lastBlocks[i].last; last != tx.LastIDs[i] {
			return damaged("%s ends at %d, want %d", b.name, last, tx.LastIDs[i])
		}
	}
	return nil
}

// begin begins a transaction. If before is not nil, the transaction must find its state,
// and outcomes under all of the keys; otherwise begin fails:
//
//   - A write must find what reads use now. Otherwise something else has written to the
//     file.
//   - After a commit, the read of the result must find what the write has stored.
//     Otherwise a damaged page has led bbolt to store it where it is not found.
//
// bbolt numbers its commits. If reads use the commit n, a write has the number n+1, and
// so has the read after that write.
func (s *Store) begin(write bool, before *transaction, keys [][]byte) (t *transaction, err error) {
	var tx *bbolt.Tx
	err = safely(func() (err error) {
		if tx, err = s.db.Begin(write); err != nil {
			return err
		}
		shown := s.current.Load()
		if shown != nil && tx.ID() != shown.ID()+1 {
			return errOtherCommit
		}
		if t, err = newTransaction(tx); err != nil {
			if shown != nil {
				return damaged("no bucket is left")
			}
			return err
		}
		if err := t.readState(); err != nil || before == nil {
			return err
		}
		if t.state != before.state {
			return errOtherCommit
		}
		for _, key := range keys {
			if t.table(&outcomeTable).Get(key) == nil {
				return damaged("an outcome that was just stored is missing")
			}
		}
		return nil
	})
	switch {
	case tx == nil: // no meta page is valid; bbolt keeps its locks
		return nil, s.fail(err)
	case errors.Is(err, errOtherCommit):
		err = s.fail(err)
	}
	if err != nil {
		return nil, s.rollback(tx, err)
	}
	return t, nil
}

// rollback ends a transaction that changes nothing. It returns err, which is why, or nil.
func (s *Store) rollback(tx *bbolt.Tx, err error) error {
	if e := safely(tx.Rollback); e != nil && !errors.Is(e, berrors.ErrTxClosed) {
		return s.fail(fmt.Errorf("the transaction cannot be ended: %w", errors.Join(e, err)))
	}
	return err
}

// safely calls fn and makes an error of a panic: bbolt panics on a damaged page,
// and the processor faults on one that is no longer in the file. Everything that
// reads the mapped file is called by safely.
func safely(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		p := recover()
		if _, fault := p.(interface{ Addr() uintptr }); fault {
			p = "it was cut short, or changed while it was read"
		}
		if p != nil {
			err = damaged("%v", p)
		}
	}()
	return fn()
}
