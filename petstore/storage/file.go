package storage

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"example.com/animalstore/internal/files"
)

// Errors that [Open] wraps, besides [ErrDamaged] and those of package io/fs.
var (
	// ErrLocked says that the file is open already.
	ErrLocked = errors.New("the file is in use by another process, or open in this one")

	// ErrNotPetstore says that the file is not a petstore.
	ErrNotPetstore = errors.New("the file is not a petstore")

	// ErrNewer says that a newer release has written the file.
	ErrNewer = errors.New("the file was written by a newer release")
)

// meta is what a meta page of bbolt says.
type meta struct {
	pageSize int64  // in bytes
	root     uint64 // the page of the buckets
	freelist uint64 // its first page
	pages    uint64 // how many are in use or free
	txid     uint64 // of the last transaction
}

// size returns how many bytes of the file are in use.
func (m meta) size() int64 { return int64(m.pages) * m.pageSize }

// bbolt trusts its file: it makes a database of an empty one, and falls back on the
// older meta page if the newer one is damaged. It would overwrite a page in use that is
// listed as free. So a file is locked (openLocked) and inspected before bbolt has it
// (mapFile).

// openLocked opens a regular file and locks it, for reading or for writing. The error wraps
// [ErrLocked] if the file is open already.
func openLocked(path string, flag int) (*os.File, error) {
	if err := files.CheckRegular(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f, flag); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sameFile makes sure that the open file is still the one at its path, and at least
// that long. If it was renamed or replaced, another process may be writing to the
// file at its path, and ours is gone when we close it.
func (s *Store) sameFile(size int64) error {
	there, err := os.Stat(s.path)
	switch {
	case err != nil:
		return fmt.Errorf("the file is no longer there; "+
			"do not start the server again before it is back, or a backup imported: %w", err)
	case !os.SameFile(s.info, there):
		return errors.New("the file was replaced by another while it was open")
	case there.Size() < size:
		return fmt.Errorf("the file was cut short from %d to %d bytes while it was open", size, there.Size())
	}
	return nil
}

// mapFile opens s.file with bbolt, and maps that many bytes of it: more than there are, so that
// the file can grow. bbolt can map more later only while no read is open, and the published
// snapshot is always open.
func (s *Store) mapFile(size int64) error {
	options := &bbolt.Options{
		NoStatistics:    true,
		Timeout:         time.Millisecond, // for the lock, which others can have on Windows only
		InitialMmapSize: int(size),
		OpenFile:        func(string, int, fs.FileMode) (*os.File, error) { return s.file, nil },
	}
	err := safely(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0, options)
		return err
	})
	switch {
	case err == nil:
		s.db.MaxSize = options.InitialMmapSize - 1 // less than is mapped: bbolt fails before it would map more
		return nil
	case errors.Is(err, berrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, ErrDamaged):
		return err
	}
	return fmt.Errorf("%d MiB of addresses are needed (see ulimit -v) to map the file: %w", size>>20, err)
}

// unlockAndClose closes a file that bbolt cannot close: after a panic bbolt may keep its own
// locks, and then the mapping stays, which would keep the lock of the file.
func unlockAndClose(f *os.File) {
	unlock(f)
	f.Close()
}

// inspect returns the newer meta page of a file, and an error if bbolt must not write
// to the file. That wraps [ErrDamaged] or [ErrNotPetstore], or is of a read.
func inspect(f *os.File) (meta, error) {
	info, err := f.Stat()
	if err != nil {
		return meta{}, err
	}
	if info.Size() == 0 {
		return meta{}, fmt.Errorf("%w: it is empty", ErrNotPetstore)
	}
	m, err := readMeta(f, 0)
	size := m.pageSize
	if err != nil {
		size = int64(os.Getpagesize()) // which bbolt makes its files with
	}
	second, err2 := readMeta(f, size)
	switch {
	case err == nil || err2 == nil:
	case errors.Is(err, ErrNotPetstore) && errors.Is(err2, ErrNotPetstore):
		return meta{}, fmt.Errorf("%w, or both of its meta pages are damaged and only a backup helps", ErrNotPetstore)
	default:
		return meta{}, err
	}
	if err != nil || second.txid > m.txid {
		m = second
	}
	if m.pages > uint64(info.Size()/m.pageSize) {
		return m, damaged("it was cut short to %d of %d bytes", info.Size(), m.size())
	}
	if e := checkFreelist(f, m); e != nil {
		return m, e
	}
	if err != nil || err2 != nil {
		return m, damaged("one of its two meta pages is invalid, and the last commit may be missing")
	}
	return m, nil
}

// readMeta reads the meta page at an offset. The error is ErrNotPetstore, also if it is
// damaged, or of the read.
func readMeta(f io.ReaderAt, offset int64) (meta, error) {
	var page [pageHeaderLen + 64]byte
	if _, err := f.ReadAt(page[:], offset); err == io.EOF {
		return meta{}, ErrNotPetstore // too short
	} else if err != nil {
		return meta{}, err
	}
	b := page[pageHeaderLen:]
	m := meta{
		pageSize: int64(native.Uint32(b[8:])),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		pages:    native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
	}
	sum := fnv.New64a()
	sum.Write(b[:56])
	if native.Uint32(b) != metaMagic || native.Uint32(b[4:]) != metaVersion || native.Uint64(b[56:]) != sum.Sum64() ||
		m.pageSize < 512 || m.pageSize > 64<<10 {
		return meta{}, ErrNotPetstore
	}
	return m, nil
}

// checkFreelist makes sure that the IDs of the free pages ascend and exist, and that the list has
// no more pages than it needs: the next commit uses all of them. They have no checksum.
func checkFreelist(f io.ReaderAt, m meta) error {
	r := bufio.NewReader(io.NewSectionReader(f, int64(m.freelist)*m.pageSize, m.size()))
	var header struct {
		ID           uint64
		Flags, Count uint16
		Overflow     uint32 // how many pages follow
	}
	err := binary.Read(r, native, &header)
	count, overflow := uint64(header.Count), uint64(header.Overflow)
	if err == nil && count == 0xFFFF { // too many for the header
		err = binary.Read(r, native, &count)
	}
	// bbolt calculates how many pages are needed before it takes them from the list.
	most := pageHeaderLen + 8*(1+count+1+overflow)
	if err != nil || header.ID != m.freelist || header.Flags != freelistFlag || m.freelist >= m.pages ||
		m.freelist+overflow >= m.pages || overflow*uint64(m.pageSize) > most ||
		count > m.pages || pageHeaderLen+8*count > (overflow+1)*uint64(m.pageSize) {
		return damaged("page %d is not a freelist", m.freelist)
	}
	for last := uint64(1); count > 0; count-- {
		var id uint64
		if err := binary.Read(r, native, &id); err != nil || id <= last || id >= m.pages {
			return damaged("the freelist has the page %d after %d", id, last)
		}
		last = id
	}
	return nil
}
