package storage

import (
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// checkInterval is how often an idle store checks that nothing else has changed
// its file.
const checkInterval = time.Second

var errOtherCommit = errors.New("the last commit in the file is not the last one of this store: the file was overwritten or damaged while it was open")

// watch makes the store fail soon after something else has changed its file.
// Every write checks this too; watch is for a store that is only read.
func (s *Store) watch() {
	tick := time.NewTicker(checkInterval)
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
		case s.committer <- struct{}{}:
			if err := errors.Join(s.sameFile(), s.sameMeta()); err != nil {
				_ = s.fail(err)
			}
			<-s.committer
		default: // a commit is under way, and checks
		}
	}
}

// sameMeta makes sure that both meta pages are valid, and that the newer one
// is of this store's last commit. The caller is the committer.
func (s *Store) sameMeta() error {
	m, err := boltfile.ReadMeta(s.file)
	if err != nil {
		return err
	}
	if m.Spare != nil {
		return m.Spare
	}
	if m.TxID != uint64(s.lastCommit) {
		return errOtherCommit
	}
	return nil
}

// sameFile makes sure that the open file is still the one at its path. If it was
// renamed or replaced, another process may be writing to the file at its path,
// and ours is gone when we close it. The caller is the committer.
func (s *Store) sameFile() error {
	there, err := os.Stat(s.path)
	switch {
	case err != nil:
		return fmt.Errorf("the file is no longer there: %w", err)
	case !os.SameFile(s.info, there):
		return errors.New("the file was replaced by another while it was open")
	case there.Size() < s.size:
		return fmt.Errorf("the file was cut short from %d to %d bytes while it was open", s.size, there.Size())
	}
	return nil
}
