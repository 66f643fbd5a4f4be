package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// writeTx is the transaction that writes a batch. What the batch changes of the state and of
// the last blocks stays in memory until store.
type writeTx struct {
	*bbolt.Tx
	state
	tails [4]*tail // of petTables; nil: the table gets no pet

	now      int64    // microseconds since 1970
	outcomes [][]byte // the keys of the outcomes that were added
}

// tail is a table of pets with its last block, to which pets are added.
type tail struct {
	bucket
	block
}

// tableIn looks up a table. It panics if the bucket is missing, so the caller must be run by
// safely.
func tableIn(tx *bbolt.Tx, t *table) bucket {
	b := tx.Bucket(t.name)
	if b == nil {
		panic(fmt.Sprintf("the bucket %s is missing", t.name))
	}
	return bucket{t, b}
}

// begin begins a transaction of bbolt, and makes sure that no other commit lies between it and
// the snapshot that reads use. bbolt numbers its commits: if reads use the commit n, the next
// write has the number n+1, and so has a read after it.
func (s *Store) begin(writable bool) (tx *bbolt.Tx, err error) {
	err = safely(func() (err error) {
		tx, err = s.db.Begin(writable)
		return err
	})
	if err != nil { // no meta page is valid; bbolt keeps its locks
		return nil, s.fail(err)
	}
	if latest := s.published.Load(); latest != nil && tx.ID() != latest.ID()+1 {
		return nil, s.rollback(tx, s.fail(errOtherCommit))
	}
	return tx, nil
}

// beginWrite begins a write. It must find the state that reads use: another file of as many
// commits may have been copied over this one.
func (s *Store) beginWrite(latest *snapshot) (*writeTx, error) {
	tx, err := s.begin(true)
	if err != nil {
		return nil, err
	}
	var found state
	err = safely(func() (err error) {
		found, err = readState(tableIn(tx, &stateTable))
		return err
	})
	if err == nil && found != latest.state {
		err = s.fail(errOtherCommit)
	}
	if err != nil {
		return nil, s.rollback(tx, err)
	}
	return &writeTx{Tx: tx, state: found, now: time.Now().UnixMicro()}, nil
}

// tail returns the tail of petTables[i]. The first call for a batch reads the last block, which
// must end where the state says.
func (tx *writeTx) tail(i int) (*tail, error) {
	if tx.tails[i] == nil {
		b := tableIn(tx.Tx, &petTables[i])
		last, err := b.lastBlock(tx.LastIDs[i])
		if err != nil {
			return nil, err
		}
		tx.tails[i] = &tail{b, last}
	}
	return tx.tails[i], nil
}

// store stores what the batch has changed in memory.
func (tx *writeTx) store() error {
	for _, tail := range tx.tails {
		if tail == nil {
			continue
		}
		if err := tail.putBlock(&tail.block); err != nil {
			return err
		}
	}
	body, err := binary.Append(nil, binary.BigEndian, tx.state)
	if err != nil {
		return err
	}
	return tableIn(tx.Tx, &stateTable).put(stateKey, body)
}

// rollback ends a transaction without a change, and returns err, which is the reason. If the
// transaction cannot be ended, the store fails.
func (s *Store) rollback(tx *bbolt.Tx, err error) error {
	if e := safely(tx.Rollback); e != nil && !errors.Is(e, berrors.ErrTxClosed) {
		return s.fail(fmt.Errorf("the transaction cannot be ended: %w", errors.Join(e, err)))
	}
	return err
}

// safely calls fn and makes an error of a panic, which is taken for damage: bbolt panics on a
// damaged page, and the processor faults on one that is no longer in the file. Everything
// that reads the mapped file is called by safely.
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
