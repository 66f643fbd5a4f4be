package boltfile

import (
	"fmt"
	"iter"
	"sync"
)

const (
	// readsAtOnce is how many branches are read at a time.
	readsAtOnce = 32

	// maxDepth is how many branches may be above a leaf.
	maxDepth = 32
)

// Verify makes sure that each tree is one and that no page is in two places. It
// reads the branches of each tree, but no leaves: these must be checked when they
// are used.
func (f *File) Verify() {
	for _, b := range f.bucket {
		if b.root != 0 {
			for range f.refs(b.root) {
			}
		}
	}
}

// Records yields the keys and values of the records of a bucket, in the order of
// the keys. They are valid until the next step. Pages that are not sound are
// reported and skipped.
func (f *File) Records(name string) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		b, ok := f.bucket[name]
		if !ok {
			f.report(fmt.Errorf("%w: the bucket %s is missing", ErrDamaged, name))
			return
		}
		leaves := f.leaves(b.root)
		if b.root == 0 {
			leaves = func(yield func(page) bool) { yield(b.inline) }
		}
		for p := range leaves {
			for i := range p.count {
				if p.isBucket(i) {
					f.report(badPage(p.id, "has an element %d that is a bucket", i))
				} else if !yield(p.key(i), p.value(i)) {
					return
				}
			}
		}
	}
}

// leaves yields the sound leaves of the tree under a root, in order, and claims
// the further pages that they take. A leaf is valid until the next step.
func (f *File) leaves(root uint64) iter.Seq[page] {
	return func(yield func(page) bool) {
		var buf []byte
		for at := range f.refs(root) {
			p, err := f.page(at, buf)
			if err == nil && !p.leaf {
				err = errNotLevel(at.id)
			}
			for id := at.id + 1; err == nil && id < at.id+uint64(int64(len(p.b))/f.pageSize); id++ {
				err = f.claim(id)
			}
			if err != nil {
				f.report(err)
			} else if !yield(p) {
				return
			}
			buf = p.b
		}
	}
}

// refs yields the references to the leaves of the tree under a root, in order. It
// claims the branches and the first page of each leaf. A reference is valid until
// the next step.
func (f *File) refs(root uint64) iter.Seq[*ref] {
	return func(yield func(*ref) bool) {
		at := &ref{id: root}
		p, height, err := f.top(at)
		if err == nil {
			err = f.claim(root)
		}
		switch {
		case err != nil:
			f.report(err)
		case height == 0:
			yield(at)
		default:
			f.below(p, nil, height, yield)
		}
	}
}

// top reads the root of a tree and returns how many branches are above each
// leaf. All leaves of a tree have the same depth, so one path is enough.
func (f *File) top(at *ref) (root page, height int, err error) {
	root, err = f.page(at, nil)
	for p := root; err == nil && !p.leaf; height++ {
		if height == maxDepth {
			return root, 0, badPage(at.id, "leads back to itself")
		}
		child := p.child(0, nil)
		p, err = f.page(&child, nil)
	}
	return root, height, err
}

// below yields the references to the leaves under a branch, and returns false if
// yield did. end is the first key after the branch. height is how many branches
// are above each leaf, this one included. Each branch claims the pages below it,
// so the walk does not follow a branch that leads back to itself.
func (f *File) below(branch page, end []byte, height int, yield func(*ref) bool) bool {
	var pages []page
	if height > 1 {
		pages = f.branches(branch, end)
	}
	var child ref // one for all steps, because it is on the heap
	for i := range branch.count {
		child = branch.child(i, end)
		if err := f.claim(child.id); err != nil {
			f.report(err)
			continue
		}
		if height > 1 && !f.below(pages[i], child.after(), height-1, yield) || height == 1 && !yield(&child) {
			return false
		}
	}
	return true
}

// branches reads the branches below a branch, many at a time: a disk reads many
// nearly as fast as one. A page that is not sound is reported, and has no
// elements.
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

func errNotLevel(id uint64) error {
	return badPage(id, "is not as deep in its tree as those beside it")
}
