// Package boltfile reads a bbolt file without trusting it. bbolt maps its file
// and follows its pages: in a damaged file, a tree that leads back into itself
// or a page that is both free and in use ends the process or destroys data. This
// package reads each page with an ordinary read, checks it, and reports damage.
//
// [Open] with [File.Verify] checks what bbolt trusts. [File.Scan] reads the records
// of a damaged file. [Guard] checks the pages that a transaction is about to
// change.
package boltfile

import (
	"errors"
	"fmt"
	"iter"
	"os"
)

var (
	// ErrDamaged says that the file does not hold what was written to it.
	ErrDamaged = errors.New("the file is damaged")

	// ErrForeign says that a file is not bbolt's, or that it has no freelist. A
	// petstore always has one.
	ErrForeign = errors.New("the file is not a petstore")
)

// File is a file whose pages are accounted for: each is free or in use once. It
// is not safe for concurrent use.
type File struct {
	Meta
	Damaged  bool // damage of the trees was reported: bbolt must not be trusted with them
	FreeLost bool // damage of the freelist was reported: a page that is free may not seem so

	reader
	report     func(error) // damage of the trees
	freeReport func(error) // damage of the freelist
	free       bitmap
	used       bitmap
	placed     bitmap   // leaves that were read, are sound and where the tree says
	own        uint64   // pages that the freelist takes
	roots      []uint64 // of the buckets that have pages of their own
	buf        []byte   // for the next leaf
}

// maxDoubtful is how many bytes Scan reads of a page that is not sound.
const maxDoubtful = 64 << 20

// bitmap has a bit for each page.
type bitmap []uint64

func (b bitmap) has(id uint64) bool { return b[id/64]&(1<<(id%64)) != 0 }
func (b bitmap) add(id uint64)      { b[id/64] |= 1 << (id % 64) }

// Open reads the meta pages, the freelist and the list of buckets of a file. It
// passes each damage to report, as do the methods, in an error that wraps
// [ErrDamaged] or [ErrForeign]. With no valid meta page, only Scan finds records.
// Open itself returns an error only if Stat fails.
func Open(file *os.File, report func(error)) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, size := &File{}, info.Size()
	f.report = func(err error) {
		f.Damaged = true
		report(err)
	}
	f.freeReport = func(err error) {
		f.FreeLost = true
		report(err)
	}
	f.Meta, err = ReadMeta(file)
	switch {
	case size == 0:
		err = fmt.Errorf("%w: it is empty, which a petstore never is", ErrDamaged)
	case err == nil && f.freelist == noFreelist:
		err = ErrForeign // bbolt would write to this file when it opens it
	case err == nil && (f.Pages > maxPages || size < int64(f.Pages)*f.PageSize):
		f.report(fmt.Errorf("%w: it was cut short to %d of %d bytes", ErrDamaged, size, f.Pages*uint64(f.PageSize)))
		f.Pages = uint64(size / f.PageSize)
	}
	lost := err != nil
	if lost {
		f.report(err)
		f.FreeLost = true
		f.Meta = Meta{PageSize: int64(os.Getpagesize())}
		f.Pages = uint64(size / f.PageSize)
	}
	f.reader = reader{file, f.PageSize, f.Pages}
	f.free = make(bitmap, f.pages/64+1)
	f.used = make(bitmap, f.pages/64+1)
	f.placed = make(bitmap, f.pages/64+1)
	if lost {
		return f, nil
	}
	if err := f.readFreelist(); err != nil {
		f.freeReport(fmt.Errorf("the freelist: %w", err))
	}
	f.readBuckets()
	return f, nil
}

// readFreelist reads which pages are free.
func (f *File) readFreelist() error {
	b, more, err := f.head(f.freelist, nil)
	if err != nil {
		return err
	}
	if flags := native.Uint16(b[8:]); flags != freelistFlag {
		return badPage(f.freelist, "is not a freelist: it has the flags %#x", flags)
	}
	count, start := uint64(native.Uint16(b[10:])), uint64(pageHeaderLen)
	if count == 0xFFFF { // too many for the header
		count, start = native.Uint64(b[start:]), start+8
	}
	if room := (more+1)*uint64(f.pageSize) - start; count > room/8 || count > f.pages {
		return badPage(f.freelist, "lists %d free pages", count)
	}
	ids := make([]byte, 8*count)
	if _, err := f.file.ReadAt(ids, int64(f.freelist)*f.pageSize+int64(start)); err != nil {
		return badPage(f.freelist, "cannot be read: %v", err)
	}
	for ; len(ids) > 0; ids = ids[8:] {
		id := native.Uint64(ids)
		switch e := f.exists(id); {
		case e != nil:
			err = e
		case f.free.has(id):
			err = badPage(id, "is listed twice")
		default:
			f.free.add(id)
		}
	}
	f.own = more + 1
	return err
}

// readBuckets finds the roots of the buckets.
func (f *File) readBuckets() {
	f.walk(f.root, func(p page) {
		for i := range p.count {
			b, err := p.bucket(i)
			if err != nil {
				f.report(err)
			} else if b.root != 0 {
				f.roots = append(f.roots, b.root)
			}
		}
	})
}

// claim records that a page is in use. It reports a page that is free too.
func (f *File) claim(id uint64) error {
	switch err := f.exists(id); {
	case err != nil:
		return err
	case f.used.has(id):
		return badPage(id, "is in use twice")
	case f.free.has(id):
		f.freeReport(badPage(id, "is in use, and on the freelist too: the next change may overwrite it"))
	}
	f.used.add(id)
	return nil
}

// Free reports whether the freelist has the page at an offset in the file.
func (f *File) Free(at int64) bool { return f.free.has(uint64(at / f.pageSize)) }

// Element is a key and a value on a page, valid until the next step of a scan.
type Element struct {
	Key, Value []byte
	At         int64 // where the value is in the file
}

// Scan yields the elements on pages, in their order: on the leaves that Verify
// found sound and in their place, or on all other pages that are not free. These
// need not be sound, so only a checksum shows whether a key and a value are a
// record, and of which bucket.
func (f *File) Scan(placed bool) iter.Seq[Element] {
	return func(yield func(Element) bool) {
		var buf []byte
		rest := f.pages // how many pages those that are not sound may claim
		for id := uint64(2); id < f.pages; id++ {
			// A damaged reference may lead to a free page.
			if f.placed.has(id) != placed || !placed && f.free.has(id) {
				continue
			}
			b, more, headErr := f.head(id, buf)
			if b == nil {
				continue
			}
			_, end, err := parse(id, b)
			sound := headErr == nil && err == nil && more == (end-1)/uint64(f.pageSize)
			if !sound {
				more = min(more, f.pages-id-1, rest, maxDoubtful/uint64(f.pageSize))
				rest -= more
			}
			if b, err = f.further(id, more, b); err != nil {
				continue
			}
			buf = b
			leaf := page{leaf: true, b: b}
			if !leaf.elements(int64(id)*f.pageSize, true, yield) {
				return
			}
			if sound {
				id += more
			}
		}
	}
}
