package storage

import (
	"fmt"
	"io"
)

// The layout of bbolt's pages: a header, and for trees an array of elements
// that say where in the page their keys and values are.
const (
	pageHeaderLen = 16
	elementLen    = 16
	branchFlag    = 0x01
	leafFlag      = 0x02
	metaFlag      = 0x04
	freelistFlag  = 0x10
	bucketFlag    = 0x01 // of a leaf's element whose value is a bucket
	maxDepth      = 32

	bucketHeaderLen = 16 // of the value of a bucket's element
)

// page is a page as it was read, with those that follow it as its own.
type page struct {
	id    uint64
	flags uint16
	count int
	data  []byte // behind the header
}

// pages reads the pages of a file and keeps account of them: each may serve
// once.
type pages struct {
	f    io.ReaderAt
	meta meta
	used []uint64 // a bit for each page
}

func badPage(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d %s", ErrDamaged, id, fmt.Sprintf(format, args...))
}

// inspectPages makes sure that the freelist lists pages of the file, that the
// trees are trees, and that no page is in two places.
func inspectPages(f io.ReaderAt, m meta) error {
	p := &pages{f: f, meta: m, used: make([]uint64, m.pages/64+1)}
	if err := p.freelist(); err != nil {
		return err
	}
	return p.tree(m.root, func(id uint64) error {
		leaf, err := p.read(id)
		if err != nil {
			return err
		}
		for i := range leaf.count {
			bucket, err := leaf.bucket(i)
			if err != nil {
				return err
			}
			if bucket == 0 {
				continue // it has no page of its own
			}
			if err := p.tree(bucket, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim takes note that a page is in use.
func (p *pages) claim(id uint64) error {
	if err := p.exists(id); err != nil {
		return err
	}
	if p.used[id/64]&(1<<(id%64)) != 0 {
		return badPage(id, "is in use twice")
	}
	p.used[id/64] |= 1 << (id % 64)
	return nil
}

// exists makes sure that a page can be referred to.
func (p *pages) exists(id uint64) error {
	if id < 2 || id >= p.meta.pages {
		return fmt.Errorf("%w: there is no page %d", ErrDamaged, id)
	}
	return nil
}

// read reads the page with that id.
func (p *pages) read(id uint64) (page, error) {
	if err := p.exists(id); err != nil {
		return page{}, err
	}
	size := p.meta.pageSize
	b := make([]byte, size)
	if _, err := p.f.ReadAt(b, int64(id)*size); err != nil {
		return page{}, err
	}
	overflow := uint64(native.Uint32(b[12:]))
	if native.Uint64(b) != id || id+overflow >= p.meta.pages {
		return page{}, badPage(id, "is not what it should be")
	}
	if overflow > 0 {
		b = make([]byte, (int64(overflow)+1)*size)
		if _, err := p.f.ReadAt(b, int64(id)*size); err != nil {
			return page{}, err
		}
	}
	return page{id, native.Uint16(b[8:]), int(native.Uint16(b[10:])), b[pageHeaderLen:]}, nil
}

// freelist claims the freelist and the pages on it.
func (p *pages) freelist() error {
	if err := p.claim(p.meta.freelist); err != nil {
		return err
	}
	_, ids, err := p.freeIDs()
	if err != nil {
		return err
	}
	for ; len(ids) > 0; ids = ids[8:] {
		if err := p.claim(native.Uint64(ids)); err != nil {
			return err
		}
	}
	return nil
}

// freeIDs returns the freelist's page, and the ids on it, 8 bytes each.
func (p *pages) freeIDs() (page, []byte, error) {
	l, err := p.read(p.meta.freelist)
	if err != nil {
		return l, nil, err
	}
	if l.flags != freelistFlag {
		return l, nil, badPage(l.id, "is no freelist: it has the flags %#x", l.flags)
	}
	count, ids := uint64(l.count), l.data
	if l.count == 0xFFFF { // too many for the header: the first element counts
		count, ids = native.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return l, nil, badPage(l.id, "lists %d free pages", count)
	}
	return l, ids[:8*count], nil
}

// bucket returns the root page of the bucket in the i-th element of a leaf, 0
// for one that is small enough to be kept in the element.
func (l page) bucket(i int) (uint64, error) {
	_, value, isBucket, err := l.element(i)
	if err == nil && (!isBucket || len(value) < bucketHeaderLen) {
		err = badPage(l.id, "has a bad element %d", i)
	}
	if err != nil {
		return 0, err
	}
	return native.Uint64(value), nil
}

// element returns the i-th element of a leaf.
func (l page) element(i int) (key, value []byte, isBucket bool, err error) {
	if (i+1)*elementLen > len(l.data) {
		return nil, nil, false, badPage(l.id, "has %d elements", l.count)
	}
	e := l.data[i*elementLen:]
	start := uint64(i*elementLen) + uint64(native.Uint32(e[4:]))
	middle := start + uint64(native.Uint32(e[8:]))
	end := middle + uint64(native.Uint32(e[12:]))
	if end > uint64(len(l.data)) {
		return nil, nil, false, badPage(l.id, "has a bad element %d", i)
	}
	return l.data[start:middle], l.data[middle:end], native.Uint32(e)&bucketFlag != 0, nil
}

// tree claims the pages of the tree under a root, and calls visit, if it is
// not nil, for each leaf. All leaves are at the same depth, so that the first
// shows how deep the branches go. The last is looked at as well, since bbolt
// is asked for it before anything is known about it, and takes whatever is no
// leaf for a branch.
func (p *pages) tree(root uint64, visit func(leaf uint64) error) error {
	depth, err := p.depth(root, func(page) int { return 0 })
	if err != nil {
		return err
	}
	if err := p.walk(root, depth, visit); err != nil {
		return err
	}
	other, err := p.depth(root, func(b page) int { return b.count - 1 })
	if err == nil && other != depth {
		err = badPage(root, "is of a tree that is not level")
	}
	return err
}

// depth returns how many branches there are above the leaf that is reached by
// going down from a page, where pick says.
func (p *pages) depth(id uint64, pick func(page) int) (int, error) {
	for depth := 0; ; depth++ {
		n, err := p.read(id)
		if err != nil {
			return 0, err
		}
		if n.flags == leafFlag {
			return depth, nil
		}
		if depth == maxDepth {
			return 0, badPage(id, "leads back to itself")
		}
		if id, err = n.child(pick(n)); err != nil {
			return 0, err
		}
	}
}

func (p *pages) walk(id uint64, depth int, visit func(leaf uint64) error) error {
	if err := p.claim(id); err != nil {
		return err
	}
	if depth == 0 {
		if visit == nil {
			return nil
		}
		return visit(id)
	}
	b, err := p.read(id)
	if err != nil {
		return err
	}
	for i := range b.count {
		child, err := b.child(i)
		if err != nil {
			return err
		}
		if err := p.walk(child, depth-1, visit); err != nil {
			return err
		}
	}
	return nil
}

// child returns the page that the i-th element of a branch leads to.
func (b page) child(i int) (uint64, error) {
	if b.flags != branchFlag {
		return 0, badPage(b.id, "is no branch: it has the flags %#x", b.flags)
	}
	if i < 0 || i >= b.count || (i+1)*elementLen > len(b.data) {
		return 0, badPage(b.id, "has %d elements", b.count)
	}
	e := b.data[i*elementLen:]
	key := uint64(i*elementLen) + uint64(native.Uint32(e))
	if key+uint64(native.Uint32(e[4:])) > uint64(len(b.data)) {
		return 0, badPage(b.id, "has a bad element %d", i)
	}
	return native.Uint64(e[8:]), nil
}

// childKey returns the key of the i-th element, which child has found good.
func (b page) childKey(i int) []byte {
	e := b.data[i*elementLen:]
	start := uint64(i*elementLen) + uint64(native.Uint32(e))
	return b.data[start : start+uint64(native.Uint32(e[4:]))]
}
