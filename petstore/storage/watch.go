package storage

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// watchInterval is how often an idle store checks that its file is still as it
// wrote it last.
const watchInterval = time.Second

var errOtherCommit = errors.New("the last commit in the file is not the last one of this store: the file was overwritten or damaged while it was open")

// watch makes the store fail soon after something else has changed its file.
// Every write checks this too; watch is for a store that is only read.
func (s *Store) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-s.failed:
			return
		case <-tick.C:
		}
		select {
		case s.turn <- struct{}{}:
			if err := s.unchanged(); err != nil {
				_ = s.fail(err)
			}
			<-s.turn
		default: // a commit is under way, and checks
		}
	}
}

// unchanged makes sure that the file is as this store wrote it last.
// The caller has the turn.
func (s *Store) unchanged() error {
	if err := s.sameFile(); err != nil {
		return err
	}
	return s.untouched()
}

// untouched makes sure that both meta pages are valid, and that the newer one
// is of this store's last commit.
func (s *Store) untouched() error {
	m, err := readMetas(s.file)
	if err != nil {
		return err
	}
	if err := invalidMeta(m); err != nil {
		return err
	}
	if newest(m).txid != uint64(s.lastCommit) {
		return errOtherCommit
	}
	return nil
}

// sameFile makes sure that the open file is still the one at its path. If it
// was renamed away or replaced, a second process may be writing to what has
// taken its place, and what we write is lost with the last handle on it.
func (s *Store) sameFile() error {
	there, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("the file is no longer there: %w", err)
	}
	if !os.SameFile(s.info, there) {
		return errors.New("the file was replaced by another while it was open")
	}
	if there.Size() < s.size {
		return fmt.Errorf("the file was cut short from %d to %d bytes while it was open", s.size, there.Size())
	}
	return nil
}
