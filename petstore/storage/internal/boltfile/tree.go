package boltfile

import (
	"fmt"
	"sync"
)

const (
	// readsAtOnce is how many branches are read at a time.
	readsAtOnce = 32

	// maxDepth is how many branches may be above a leaf.
	maxDepth = 32
)

// Verify makes sure that the pages of each bucket form a tree, and that no page is
// used twice. It reads the branches of each tree and the leaves at its ends. The
// other leaves must be checked when they are used, unless leaves is true: then
// Verify reads them too, and reports the pages that are neither free nor in use.
func (f *File) Verify(leaves bool) {
	var visit func(page)
	if leaves {
		visit = func(page) {}
	}
	for _, root := range f.roots {
		f.walk(root, visit)
	}
	for id := range f.own {
		if err := f.claim(f.freelist + id); err != nil {
			f.freeReport(fmt.Errorf("the freelist: %w", err))
		}
	}
	if !leaves || f.Damaged || f.FreeLost { // damage hides pages that are in use or free
		return
	}
	for id := uint64(2); id < f.pages; id++ {
		if !f.free.has(id) && !f.used.has(id) {
			f.freeReport(badPage(id, "is neither in use nor on the freelist"))
		}
	}
}

// walk walks the tree under a root. It claims the branches and the first page of
// each leaf. If visit is not nil, walk also reads the leaves, claims the further
// pages that they take, and calls visit with each, in order. A leaf is valid until
// visit returns.
func (f *File) walk(root uint64, visit func(page)) {
	at := &ref{id: root}
	p, height, err := f.top(at)
	if err == nil {
		err = f.claim(root)
	}
	switch {
	case err != nil:
		f.report(err)
	case height == 0:
		f.leaf(at, visit)
	default:
		f.below(p, nil, height, visit)
	}
}

// top reads the root of a tree and the pages from there to the first and the last
// leaf. It returns how many branches are above each leaf: all leaves of a tree have
// the same depth.
func (f *File) top(at *ref) (root page, height int, err error) {
	root, err = f.page(at, nil)
	for _, last := range []bool{false, true} {
		height = 0
		for p := root; err == nil && !p.leaf; height++ {
			if height == maxDepth {
				return root, 0, badPage(at.id, "leads back to itself")
			}
			i := 0
			if last {
				i = p.count - 1
			}
			child := p.child(i, nil)
			p, err = f.page(&child, nil)
		}
	}
	return root, height, err
}

// below walks the pages under a branch. end is the first key after the branch.
// height is how many branches are above each leaf, this one included. Each branch
// claims the pages below it, so the walk does not follow a branch that leads back
// to itself.
func (f *File) below(branch page, end []byte, height int, visit func(page)) {
	var pages []page
	if height > 1 {
		pages = f.branches(branch, end)
	}
	var child ref // one for all steps, because it is on the heap
	for i := range branch.count {
		child = branch.child(i, end)
		if err := f.claim(child.id); err != nil {
			f.report(err)
		} else if height > 1 {
			f.below(pages[i], child.after(), height-1, visit)
		} else {
			f.leaf(&child, visit)
		}
	}
}

// branches reads the branches below a branch, many at a time: a disk reads many
// nearly as fast as one. It reports the pages that are not sound, and returns an
// empty page for one that cannot be read as a branch.
func (f *File) branches(branch page, end []byte) []page {
	pages, errs := make([]page, branch.count), make([]error, branch.count)
	var readers sync.WaitGroup
	for first := range min(readsAtOnce, branch.count) {
		readers.Go(func() {
			for i := first; i < branch.count; i += readsAtOnce {
				at := branch.child(i, end)
				if pages[i], errs[i] = f.page(&at, nil); pages[i].leaf {
					pages[i], errs[i] = page{}, errNotLevel(at.id)
				}
			}
		})
	}
	readers.Wait()
	for _, err := range errs {
		if err != nil {
			f.report(err)
		}
	}
	return pages
}

// leaf reads a leaf whose first page is claimed, for walk.
func (f *File) leaf(at *ref, visit func(page)) {
	if visit == nil {
		return
	}
	p, err := f.page(at, f.buf)
	if err == nil && !p.leaf {
		err = errNotLevel(at.id)
	}
	for id := at.id + 1; err == nil && id < at.id+uint64(int64(len(p.b))/f.pageSize); id++ {
		err = f.claim(id)
	}
	if err != nil {
		f.report(err)
		return
	}
	for id := at.id; id < at.id+uint64(int64(len(p.b))/f.pageSize); id++ {
		f.placed.add(id)
	}
	f.buf = p.b
	visit(p)
}

func errNotLevel(id uint64) error {
	return badPage(id, "is not as deep in its tree as those beside it")
}
