package boltfile

import (
	"fmt"
	"iter"
	"sync"
)

// readsAtOnce is how many branches are read at a time.
const readsAtOnce = 32

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
// the keys. They are valid until the next step.
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

// leaves yields the sound leaves of the tree under a root, in order. A leaf is
// valid until the next step.
func (f *File) leaves(root uint64) iter.Seq[page] {
	return func(yield func(page) bool) {
		var buf []byte
		for at := range f.refs(root) {
			p, ok := f.leaf(at, buf)
			if ok && !yield(p) {
				return
			}
			buf = p.b
		}
	}
}

// leaf reads a leaf whose first page is claimed, and claims its further pages.
func (f *File) leaf(at *ref, buf []byte) (p page, ok bool) {
	p, err := f.page(at, buf)
	if err == nil && !p.leaf {
		err = errNotLevel(at.id)
	}
	for id := at.id + 1; err == nil && id < at.id+uint64(int64(len(p.b))/f.pageSize); id++ {
		err = f.claim(id)
	}
	if err != nil {
		f.reject(at.id, err)
	}
	return p, err == nil
}

// refs yields the references to the leaves of the tree under a root, in order. It
// claims the branches and the first page of each leaf. A reference is valid until
// the next step.
func (f *File) refs(root uint64) iter.Seq[*ref] {
	return func(yield func(*ref) bool) {
		if err := f.claim(root); err != nil {
			f.report(err)
			return
		}
		at := &ref{id: root}
		height := f.height(*at)
		if height == 0 {
			yield(at)
			return
		}
		p, err := f.page(at, nil)
		f.below(at, p, err, height, yield)
	}
}

// below yields the references to the leaves under the branch at, and returns
// false if yield did. p and err are what was read there. height is how many
// branches are above each leaf, at included. Each branch claims the pages below
// it, so the walk does not follow a branch that leads back to itself.
func (f *File) below(at *ref, p page, err error, height int, yield func(*ref) bool) bool {
	if err == nil && p.leaf {
		err = errNotLevel(at.id)
	}
	if err != nil {
		f.reject(at.id, err)
		return true
	}
	end := at.after()
	var pages []page
	var errs []error
	if height > 1 {
		pages, errs = f.branches(p, end)
	}
	var child ref // one for all steps, because it is on the heap
	for i := range p.count {
		child = p.child(i, end)
		if err := f.claim(child.id); err != nil {
			f.report(err)
			continue
		}
		if height > 1 && !f.below(&child, pages[i], errs[i], height-1, yield) || height == 1 && !yield(&child) {
			return false
		}
	}
	return true
}

// branches reads the branches below a branch, many at a time. A disk reads many
// nearly as fast as one.
func (f *File) branches(p page, end []byte) ([]page, []error) {
	pages, errs := make([]page, p.count), make([]error, p.count)
	var readers sync.WaitGroup
	for first := range min(readsAtOnce, p.count) {
		readers.Go(func() {
			for i := first; i < p.count; i += readsAtOnce {
				at := p.child(i, end)
				pages[i], errs[i] = f.page(&at, nil)
			}
		})
	}
	readers.Wait()
	return pages, errs
}

// height returns how many branches are above each leaf under at, at included.
// All leaves of a tree have the same depth, so one path over sound pages is
// enough.
func (f *File) height(at ref) int {
	p, err := f.page(&at, nil)
	if err != nil {
		return 1 // below finds the error again
	}
	height := 0
	for ; !p.leaf && height < maxDepth; height++ {
		branch, end := p, at.after()
		for i := range branch.count {
			at = branch.child(i, end)
			if p, err = f.page(&at, nil); err == nil {
				break
			}
		}
		if err != nil {
			f.report(badPage(branch.id, "leads to no sound page"))
			return height + 1
		}
	}
	return height
}

// reject reports a page that is not sound. The page is then a stray one.
func (f *File) reject(id uint64, err error) {
	f.used.remove(id)
	f.report(err)
}

func errNotLevel(id uint64) error {
	return badPage(id, "is not as deep in its tree as those beside it")
}
