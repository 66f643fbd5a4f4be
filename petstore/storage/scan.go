package storage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// scanner reads a file that may be damaged, page by page. It maps nothing,
// follows nothing twice and goes no deeper than a tree can be, so that no
// content can harm it; what it cannot read it reports and passes over.
type scanner struct {
	pages
	file     *os.File
	size     int64
	free     []uint64 // a bit for each page on the freelist
	freelist bool     // it could be read
	roots    map[string]bucketRoot
	report   func(error)
	invalid  error // what is wrong with one of the meta pages
	lost     bool  // both meta pages are invalid: there are pages, and nobody knows which
	stopped  bool  // nothing more is wanted
}

// bucketRoot is where the tree of a bucket starts.
type bucketRoot struct {
	id     uint64
	inline *page // set if the bucket is small enough to be within its entry
}

// openScanner opens the file at path and reads how its pages are laid out. An
// error says that it cannot be read at all; damage is reported, and the
// scanner is nil if there is nothing behind it.
func openScanner(path string, report func(error)) (*scanner, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is not a regular file", path) // opening it might wait for ever
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &scanner{file: f, roots: map[string]bucketRoot{}, report: report}
	ok, err := s.begin()
	if err != nil || !ok {
		f.Close()
		return nil, err
	}
	return s, nil
}

// InUse returns [ErrLocked] if a store or another program has the file at path
// open, or why the file cannot be opened. Systems without flock do not tell.
func InUse(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return lockShared(f)
}

func (s *scanner) close() { _ = s.file.Close() }

// begin reports whether there is anything to read.
func (s *scanner) begin() (bool, error) {
	info, err := s.file.Stat()
	if err != nil {
		return false, err
	}
	if err := lockShared(s.file); err != nil {
		return false, err
	}
	s.size = info.Size()
	m, err := readMetas(s.file)
	if s.size == 0 {
		err = fmt.Errorf("%w: it is empty", ErrDamaged)
	}
	if err != nil {
		s.report(err)
		s.lose()
		return s.size > 0, nil
	}
	now := newest(m)
	s.invalid = invalidMeta(m)
	if now.pages > maxPages || s.size < int64(now.pages)*now.pageSize {
		s.report(fmt.Errorf("%w: it was cut short to %d of %d bytes", ErrDamaged, s.size, now.pages*uint64(now.pageSize)))
		now.pages = uint64(s.size / now.pageSize)
	}
	s.pages = pages{f: s.file, meta: now}
	s.readFreelist()
	s.readRoots()
	return true, nil
}

// lose has the scanner know of no tree, and of pages as long as they are by
// default.
func (s *scanner) lose() {
	s.lost = true
	size := int64(os.Getpagesize())
	s.pages = pages{f: s.file, meta: meta{pageSize: size, pages: uint64(s.size / size)}}
	s.free = make([]uint64, s.meta.pages/64+1)
	s.used = make([]uint64, s.meta.pages/64+1)
}

// readFreelist reads the freelist into free, and claims its own page.
func (s *scanner) readFreelist() {
	s.free = make([]uint64, s.meta.pages/64+1)
	s.used = make([]uint64, s.meta.pages/64+1)
	l, ids, err := s.freeIDs()
	if err != nil {
		s.report(fmt.Errorf("the freelist: %w", readError(s.meta.freelist, err)))
		return
	}
	s.freelist = true
	for ; len(ids) > 0; ids = ids[8:] {
		id := native.Uint64(ids)
		err := s.exists(id)
		if err == nil && s.isFree(id) {
			err = badPage(id, "is there twice")
		}
		if err != nil {
			s.freelist = false
			s.report(fmt.Errorf("the freelist: %w", err))
			continue
		}
		s.free[id/64] |= 1 << (id % 64)
	}
	if err := s.take(l); err != nil {
		s.freelist = false
		s.report(err)
	}
}

// readRoots reads which buckets there are.
func (s *scanner) readRoots() {
	s.walk(s.meta.root, nil, nil, 0, func(p page, i int) {
		name, value, isBucket, err := p.element(i)
		if err == nil && (!isBucket || len(value) < bucketHeaderLen) {
			err = badPage(p.id, "has an element %d that is no bucket", i)
		}
		if err != nil {
			s.report(err)
			return
		}
		root := bucketRoot{id: native.Uint64(value)}
		if root.id == 0 {
			inner := value[bucketHeaderLen:]
			if len(inner) < pageHeaderLen || native.Uint16(inner[8:]) != leafFlag {
				s.report(badPage(p.id, "has a bucket %q that is no page", name))
				return
			}
			root.inline = &page{p.id, leafFlag, int(native.Uint16(inner[10:])), inner[pageHeaderLen:]}
		}
		s.roots[string(name)] = root
	})
}

// records calls yield with the key and value of each entry of a bucket, in the
// order of the keys.
func (s *scanner) records(name []byte, yield func(key, value []byte)) {
	root, ok := s.roots[string(name)]
	if !ok {
		s.report(damage("the bucket %s is missing", name))
		return
	}
	visit := func(p page, i int) {
		key, value, isBucket, err := p.element(i)
		if err == nil && isBucket {
			err = badPage(p.id, "has an element %d that is a bucket", i)
		}
		if err != nil {
			s.report(err)
			return
		}
		yield(key, value)
	}
	if root.inline != nil {
		s.leaf(*root.inline, nil, nil, visit)
		return
	}
	s.walk(root.id, nil, nil, 0, visit)
}

// walk visits the elements of the leaves under a page. Their first key must be
// low and all must be below high, where these are not nil.
func (s *scanner) walk(id uint64, low, high []byte, depth int, visit func(p page, i int)) {
	p, err := s.page(id)
	if err == nil {
		err = s.take(p)
	}
	if err == nil && depth > maxDepth {
		err = badPage(id, "is deeper in its tree than any can be")
	}
	if err != nil {
		s.report(err)
		return
	}
	if p.flags == leafFlag {
		s.leaf(p, low, high, visit)
		return
	}
	for i := 0; i < p.count && !s.stopped; i++ {
		child, err := p.child(i)
		if err != nil {
			s.report(err)
			continue
		}
		key := p.childKey(i)
		next := high
		if i+1 < p.count {
			if _, err := p.child(i + 1); err == nil {
				next = p.childKey(i + 1)
			}
		}
		if i == 0 && low != nil && !bytes.Equal(key, low) || next != nil && bytes.Compare(key, next) >= 0 {
			s.report(badPage(id, "has its elements out of order at %d", i))
		}
		s.walk(child, key, next, depth+1, visit)
	}
}

// leaf visits the elements of a leaf.
func (s *scanner) leaf(p page, low, high []byte, visit func(p page, i int)) {
	for i := 0; i < p.count && !s.stopped; i++ {
		if (i+1)*elementLen > len(p.data) {
			s.report(badPage(p.id, "has %d elements", p.count))
			return
		}
		key, _, _, err := p.element(i)
		if err != nil {
			s.report(err)
			continue
		}
		if c := bytes.Compare(key, low); i == 0 && low != nil && c != 0 || i > 0 && c <= 0 || high != nil && bytes.Compare(key, high) >= 0 {
			s.report(badPage(p.id, "has its keys out of order at %d", i))
		}
		low = key
		visit(p, i)
	}
}

// page reads a page of a tree.
func (s *scanner) page(id uint64) (page, error) {
	p, err := s.read(id)
	if err != nil {
		return p, readError(id, err)
	}
	if p.flags != leafFlag && p.flags != branchFlag {
		return p, badPage(id, "is no part of a tree: it has the flags %#x", p.flags)
	}
	return p, nil
}

// readError makes a failure to read a page damage of the file.
func readError(id uint64, err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return badPage(id, "cannot be read: %v", err)
}

// damage is damaged without what a client would be told.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
