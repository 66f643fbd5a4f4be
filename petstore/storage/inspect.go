package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt trusts its file: it maps it and follows its pages, and a file cut
// short, a tree that leads back into itself, or a page both free and in use
// end the process or the data rather than the call. So what everything hangs
// on is read here first, the ordinary way: the meta pages, the freelist, and
// the branches of the trees (see tree.go). The leaves are left alone, one in a
// few hundred pages being a branch: what is on a leaf is checked when it is
// read, by its checksums.

// The layout of bbolt's meta pages.
const (
	metaLen     = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = ^uint64(0)
	maxPageSize = 1 << 16
	maxPages    = 1 << 40
)

// meta is what one of the two meta pages says: which pages a transaction has
// left. The valid one with the higher txid counts.
type meta struct {
	err                         error // why the page is not valid; nil if it is
	magic                       bool  // it is a bbolt file's at least
	pageSize                    int64
	root, freelist, pages, txid uint64
}

var native = binary.NativeEndian

// readMeta reads the meta page with that id, 0 or 1, which starts at offset.
func readMeta(f io.ReaderAt, id uint64, offset int64) meta {
	var b [pageHeaderLen + metaLen]byte
	if _, err := f.ReadAt(b[:], offset); err != nil {
		return meta{err: err}
	}
	m := b[pageHeaderLen:]
	sum := fnv.New64a()
	sum.Write(m[:metaLen-8])
	p := meta{
		magic:    native.Uint32(m) == metaMagic,
		pageSize: int64(native.Uint32(m[8:])),
		root:     native.Uint64(m[16:]),
		freelist: native.Uint64(m[32:]),
		pages:    native.Uint64(m[40:]),
		txid:     native.Uint64(m[48:]),
	}
	switch {
	case !p.magic:
		p.err = errors.New("no bbolt file")
	case native.Uint64(b[:]) != id || native.Uint16(b[8:]) != metaFlag:
		p.err = errors.New("another page in its place")
	case native.Uint32(m[4:]) != metaVersion:
		p.err = errors.New("another version of bbolt's format")
	case native.Uint64(m[56:]) != sum.Sum64():
		p.err = errors.New("checksum error")
	case p.pageSize < 1024 || p.pageSize > maxPageSize || p.pageSize&(p.pageSize-1) != 0:
		p.err = fmt.Errorf("page size %d", p.pageSize)
	}
	return p
}

// readMetas reads both meta pages. Where the first does not say how long a
// page is, the second is looked for wherever it can be.
func readMetas(f io.ReaderAt) ([2]meta, error) {
	m := [2]meta{readMeta(f, 0, 0)}
	if m[0].err == nil {
		m[1] = readMeta(f, 1, m[0].pageSize)
		return m, nil
	}
	for size := int64(1024); size <= maxPageSize; size *= 2 {
		if m[1] = readMeta(f, 1, size); m[1].err == nil && m[1].pageSize == size {
			return m, nil
		}
	}
	if m[0].magic {
		return m, fmt.Errorf("%w: both meta pages are invalid (%v)", ErrDamaged, m[0].err)
	}
	return m, ErrForeign
}

// newest returns the one of the two that counts.
func newest(m [2]meta) meta {
	if m[0].err != nil || m[1].err == nil && m[1].txid > m[0].txid {
		return m[1]
	}
	return m[0]
}

// inspect checks what bbolt will trust blindly, and returns an error if that
// must not be trusted. invalid says what is wrong with one of the meta pages, if
// the other is valid.
func inspect(f *os.File) (invalid, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() == 0:
		return nil, errors.New("the file is empty, which a store never is; restore it from a backup, or remove it to begin with a new store")
	}
	m, err := readMetas(f)
	if err != nil {
		return nil, err
	}
	now := newest(m)
	if have, want := info.Size(), int64(now.pages)*now.pageSize; now.pages > maxPages || have < want {
		return nil, fmt.Errorf("%w: it was cut short to %d of %d bytes", ErrDamaged, have, want)
	}
	if now.freelist == noFreelist {
		return nil, ErrForeign // ours is always written; bbolt would write to this file on opening it
	}
	return invalidMeta(m), inspectPages(f, now)
}

// invalidMeta returns what is wrong with one of the meta pages, if anything is.
func invalidMeta(m [2]meta) error {
	for i := range m {
		if m[i].err != nil {
			return fmt.Errorf("%w: meta page %d is invalid (%v)", ErrDamaged, i, m[i].err)
		}
	}
	return nil
}
