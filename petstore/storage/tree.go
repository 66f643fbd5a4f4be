package storage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// pages reads the pages of a file and keeps account of them: each may serve
// once.
type pages struct {
	f    io.ReaderAt
	meta meta
	used []uint64 // a bit for each page
}

// inspectPages makes sure that the freelist lists pages of the file, that the
// trees are trees, and that no page is in two places.
func inspectPages(f io.ReaderAt, m meta) error {
	p := &pages{f: f, meta: m, used: make([]uint64, m.pages/64+1)}
	if err := p.freelist(); err != nil {
		return err
	}
	leaves, err := p.tree(m.root)
	if err != nil {
		return err
	}
	for _, id := range leaves {
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
			if _, err := p.tree(bucket); err != nil {
				return err
			}
		}
	}
	return nil
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

// head reads the first page of those that a page consists of, and returns how
// many follow it.
func (p *pages) head(id uint64) (page, uint64, error) {
	return p.headInto(make([]byte, p.meta.pageSize), id)
}

// headInto is head, which reads the page into b.
func (p *pages) headInto(b []byte, id uint64) (page, uint64, error) {
	if err := p.exists(id); err != nil {
		return page{}, 0, err
	}
	if _, err := p.f.ReadAt(b, int64(id)*p.meta.pageSize); err != nil {
		return page{}, 0, err
	}
	n := page{id, native.Uint16(b[8:]), int(native.Uint16(b[10:])), b[pageHeaderLen:]}
	overflow := uint64(native.Uint32(b[12:]))
	if native.Uint64(b) != id || id+overflow >= p.meta.pages {
		return page{}, 0, badPage(id, "is not what it should be")
	}
	// bbolt would free them all with the page, those of others among them.
	if overflow > n.mostOverflow(overflow) {
		return page{}, 0, badPage(id, "takes %d pages more than it has use for", overflow)
	}
	return n, overflow, nil
}

// read reads the page with that id.
func (p *pages) read(id uint64) (page, error) {
	n, overflow, err := p.head(id)
	if err != nil || overflow == 0 {
		return n, err
	}
	b := make([]byte, (int64(overflow)+1)*p.meta.pageSize)
	_, err = p.f.ReadAt(b, int64(id)*p.meta.pageSize)
	n.data = b[pageHeaderLen:]
	return n, err
}

// freelist claims the freelist and the pages on it.
func (p *pages) freelist() error {
	l, ids, err := p.freeIDs()
	if err != nil {
		return err
	}
	for i := range int64(len(l.data)+pageHeaderLen) / p.meta.pageSize {
		if err := p.claim(l.id + uint64(i)); err != nil {
			return err
		}
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

// tree claims the pages of the tree under a root and returns its leaves. All
// are at the same depth, so that the first shows how deep the branches go. The
// last is looked at as well, since bbolt is asked for it before anything is
// known about it, and takes whatever is no leaf for a branch.
func (p *pages) tree(root uint64) (leaves []uint64, err error) {
	depth, err := p.depth(root, func(page) int { return 0 })
	if err != nil {
		return nil, err
	}
	other, err := p.depth(root, func(b page) int { return b.count - 1 })
	if err == nil && other != depth {
		err = badPage(root, "is of a tree that is not level")
	}
	if err != nil {
		return nil, err
	}
	for level := []uint64{root}; ; depth-- {
		for _, id := range level {
			if err := p.claim(id); err != nil {
				return nil, err
			}
		}
		if depth == 0 {
			return level, nil
		}
		if level, err = p.children(level); err != nil {
			return nil, err
		}
	}
}

// depth returns how many branches there are above the leaf that is reached by
// going down from a page, where pick says.
func (p *pages) depth(id uint64, pick func(page) int) (int, error) {
	for depth := 0; ; depth++ {
		n, _, err := p.head(id)
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

// readsAtOnce is how many branches are read at a time. A disk that has them to
// fetch does many nearly as fast as one.
const readsAtOnce = 32

// children returns the pages that the branches of a level lead to.
func (p *pages) children(level []uint64) ([]uint64, error) {
	found := make([][]uint64, len(level))
	errs := make([]error, readsAtOnce)
	var (
		next    atomic.Int64
		readers sync.WaitGroup
	)
	for r := range min(readsAtOnce, len(level)) {
		readers.Go(func() {
			for errs[r] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(level) {
					return
				}
				found[i], errs[r] = p.branch(level[i])
			}
		})
	}
	readers.Wait()
	return slices.Concat(found...), cmp.Or(errs...)
}

// branch returns the pages that a branch leads to.
func (p *pages) branch(id uint64) ([]uint64, error) {
	b, _, err := p.head(id)
	if err != nil {
		return nil, err
	}
	children := make([]uint64, b.count)
	for i := range children {
		if children[i], err = b.child(i); err != nil {
			return nil, err
		}
	}
	return children, nil
}
