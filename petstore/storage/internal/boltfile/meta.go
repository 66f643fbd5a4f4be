package boltfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a meta page after its page header.
const (
	metaLen     = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = ^uint64(0)
	minPageSize = 1 << 10
	maxPageSize = 1 << 16
	maxPages    = 1 << 40
)

var native = binary.NativeEndian

// Meta is what one of the two meta pages says, the newer one that bbolt can use:
// where a transaction left the trees, the freelist and the end of the file.
type Meta struct {
	PageSize int64  // in bytes
	Pages    uint64 // how many there are
	TxID     uint64 // of the last transaction

	// Spare says what is wrong with one of the meta pages; nil if both are valid.
	Spare error

	root, freelist uint64 // pages
}

// ReadMeta reads both meta pages of a file. The error wraps [ErrForeign] if the
// file is not bbolt's, and [ErrDamaged] if neither page is valid.
func ReadMeta(f io.ReaderAt) (Meta, error) {
	first, err0 := readMeta(f, 0, 0)
	second, err1 := readMeta(f, 1, first.PageSize)
	// If the page size is unknown, the second page can be in several places.
	for size := int64(minPageSize); first.PageSize == 0 && err1 != nil && size <= maxPageSize; size *= 2 {
		second, err1 = readMeta(f, 1, size)
	}
	if err0 != nil && err1 != nil {
		if errors.Is(err0, ErrForeign) {
			return Meta{}, err0
		}
		return Meta{}, fmt.Errorf("%w: both meta pages are invalid (%v)", ErrDamaged, err0)
	}
	m := first
	if first.PageSize == 0 || second.TxID > first.TxID {
		m = second
	}
	m.Spare = cmp.Or(badMeta(0, err0), badMeta(1, err1))
	return m, nil
}

func badMeta(page int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: meta page %d is invalid (%v)", ErrDamaged, page, err)
}

// readMeta reads the meta page with that ID, 0 or 1, at an offset. With an error
// it returns the page only if bbolt uses it: bbolt ignores the page header.
func readMeta(f io.ReaderAt, id uint64, offset int64) (Meta, error) {
	var b [pageHeaderLen + metaLen]byte
	if _, err := f.ReadAt(b[:], offset); err == io.EOF {
		return Meta{}, ErrForeign // too short
	} else if err != nil {
		return Meta{}, err
	}
	m := b[pageHeaderLen:]
	sum := fnv.New64a()
	sum.Write(m[:metaLen-8])
	size := int64(native.Uint32(m[8:]))
	switch {
	case native.Uint32(m) != metaMagic:
		return Meta{}, ErrForeign
	case native.Uint32(m[4:]) != metaVersion:
		return Meta{}, errors.New("another version of bbolt's format")
	case native.Uint64(m[56:]) != sum.Sum64():
		return Meta{}, errors.New("checksum error")
	case size < minPageSize || size > maxPageSize || size&(size-1) != 0 || id == 1 && size != offset:
		return Meta{}, fmt.Errorf("page size %d", size)
	}
	meta := Meta{
		PageSize: size,
		root:     native.Uint64(m[16:]),
		freelist: native.Uint64(m[32:]),
		Pages:    native.Uint64(m[40:]),
		TxID:     native.Uint64(m[48:]),
	}
	if native.Uint64(b[:]) != id || native.Uint16(b[8:]) != metaFlag {
		return meta, errors.New("another page is in its place")
	}
	return meta, nil
}
