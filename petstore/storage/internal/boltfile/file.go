// Package boltfile reads a bbolt file without trusting it. bbolt maps its file
// and follows its pages: in a damaged file, a tree that leads back into itself
// or a page that is both free and in use ends the process or destroys data. This
// package reads each page with an ordinary read, checks it, and reports damage.
//
// [Open] with [File.Verify] checks what bbolt trusts. [File.Records] reads all
// records of a bucket, and [File.Scan] those that a tree may no longer lead to.
// [Guard] checks the pages that a transaction is about to change.
package boltfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
)

var (
	// ErrDamaged says that the file does not hold what was written to it.
	ErrDamaged = errors.New("the file is damaged")

	// ErrForeign says that a file is not bbolt's, or that it has no freelist, which a
	// petstore always has.
	ErrForeign = errors.New("the file is not a petstore")
)

// File is a file whose pages are accounted for: each is free, in use once, or
// stray. It is not safe for concurrent use.
type File struct {
	Meta
	Lost     bool // no meta page is valid: nothing leads to any record
	FreeLost bool // the freelist is damaged: Scan may find what was never committed

	reader
	report func(error)
	free   bitmap
	used   bitmap
	bucket map[string]bucket
}

// bucket is where the records of a bucket are.
type bucket struct {
	root   uint64
	inline page // of a bucket that has no root
}

// bitmap has a bit for each page.
type bitmap []uint64

func (b bitmap) has(id uint64) bool { return b[id/64]&(1<<(id%64)) != 0 }
func (b bitmap) add(id uint64)      { b[id/64] |= 1 << (id % 64) }

// Open reads the meta pages, the freelist and the list of buckets of a file of
// that size, in bytes. It passes each damage to report, as do the methods; the
// errors wrap [ErrDamaged] or [ErrForeign]. Open never fails: with no valid meta
// page, only Scan finds records.
func Open(file io.ReaderAt, size int64, report func(error)) *File {
	f := &File{report: report, bucket: map[string]bucket{}}
	meta, err := ReadMeta(file)
	switch {
	case size == 0:
		err = fmt.Errorf("%w: it is empty, which a petstore never is", ErrDamaged)
	case err == nil && meta.freelist == noFreelist:
		err = ErrForeign // bbolt would write to this file when it opens it
	}
	if err != nil {
		report(err)
		f.Lost, f.FreeLost = true, true
		meta = Meta{PageSize: int64(os.Getpagesize())}
		meta.Pages = uint64(size / meta.PageSize)
	} else if meta.Pages > maxPages || size < int64(meta.Pages)*meta.PageSize {
		report(fmt.Errorf("%w: it was cut short to %d of %d bytes", ErrDamaged, size, meta.Pages*uint64(meta.PageSize)))
		meta.Pages = uint64(size / meta.PageSize)
	}
	f.Meta = meta
	f.reader = reader{file, meta.PageSize, meta.Pages}
	f.free = make(bitmap, meta.Pages/64+1)
	f.used = make(bitmap, meta.Pages/64+1)
	if f.Lost {
		return f
	}
	if err := f.readFreelist(); err != nil {
		f.FreeLost = true
		report(fmt.Errorf("the freelist: %w", err))
	}
	f.readBuckets()
	return f
}

// readFreelist reads which pages are free, and claims the freelist's own.
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
	for id := range more + 1 {
		if e := f.claim(f.freelist + id); e != nil {
			err = e
		}
	}
	return err
}

// readBuckets reads which buckets there are.
func (f *File) readBuckets() {
	for p := range f.leaves(f.root) {
		for i := range p.count {
			b, err := p.bucket(i)
			if err != nil {
				f.report(err)
				continue
			}
			b.inline.b = bytes.Clone(b.inline.b)
			f.bucket[string(p.key(i))] = b
		}
	}
}

// Buckets returns the names of the buckets.
func (f *File) Buckets() []string { return slices.Sorted(maps.Keys(f.bucket)) }

// claim records that a page is in use.
func (f *File) claim(id uint64) error {
	switch err := f.exists(id); {
	case err != nil:
		return err
	case f.free.has(id):
		return badPage(id, "is in use, and on the freelist too: the next change may overwrite it")
	case f.used.has(id):
		return badPage(id, "is in use twice")
	}
	f.used.add(id)
	return nil
}

// ReportStray reports the pages that are neither free nor in a tree that was
// read.
func (f *File) ReportStray() {
	for id := uint64(2); id < f.pages; id++ {
		if !f.free.has(id) && !f.used.has(id) {
			f.report(badPage(id, "is neither in use nor on the freelist"))
		}
	}
}

// Scan yields the keys and values on all sound leaves that are not free, in the
// order of the pages, whether a tree leads to them or not. Only a checksum shows
// which bucket they are of. They are valid until the next step.
func (f *File) Scan() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		var buf []byte
		records := func(leaf page) bool {
			for i := range leaf.count {
				if !leaf.isBucket(i) && !yield(leaf.key(i), leaf.value(i)) {
					return false
				}
			}
			return true
		}
		for id := uint64(2); id < f.pages; id++ {
			if f.free.has(id) {
				continue
			}
			p, err := f.page(&ref{id: id}, buf)
			if err != nil || !p.leaf {
				continue
			}
			buf = p.b
			id += uint64(int64(len(p.b))/f.pageSize) - 1
			if !records(p) {
				return
			}
			for i := range p.count {
				if !p.isBucket(i) {
					continue
				}
				if b, err := p.bucket(i); err == nil && !records(b.inline) {
					return
				}
			}
		}
	}
}
