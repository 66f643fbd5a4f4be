package boltfile

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// readsAtOnce is how many branches are read at a time. A disk reads many nearly
// as fast as one.
const readsAtOnce = 32

// Verify makes sure that the trees are trees and that no page is in two places.
// It reads the branches of each tree, its first leaf and its last. The other
// leaves have to be checked when they are used.
func (f *File) Verify() {
	for _, b := range f.bucket {
		if b.root == 0 {
			continue
		}
		n, last := 0, ref{}
		var branch []byte // that of last
		for at := range f.refs(b.root) {
			if n++; n == 1 {
				f.leaf(at, nil)
			}
			if last.up.id != at.up.id {
				branch = append(branch[:0], at.up.b...)
			}
			last = *at
			last.up.b = branch
		}
		if n > 1 {
			f.leaf(&last, nil)
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
//
// It goes down level by level. Each level claims other pages, so that a branch
// that leads back to itself ends the way down.
func (f *File) refs(root uint64) iter.Seq[*ref] {
	return func(yield func(*ref) bool) {
		if err := f.claim(root); err != nil {
			f.report(err)
			return
		}
		level := []ref{{id: root}}
		if p, err := f.page(&level[0], nil); err == nil && p.leaf {
			yield(&level[0])
			return
		}
		for len(level) > 0 {
			leaves := f.aboveLeaves(level)
			var next []ref
			for p, at := range f.branches(level) {
				end := at.after()
				if !leaves {
					p.b = bytes.Clone(p.b) // next keeps it
				}
				for i := range p.count {
					below := p.child(i, end)
					if err := f.claim(below.id); err != nil {
						f.report(err)
					} else if !leaves {
						next = append(next, below)
					} else if !yield(&below) {
						return
					}
				}
			}
			level = next
		}
	}
}

// aboveLeaves reports whether a level of branches is the lowest. All leaves of a
// tree have the same depth, so one sound page below it is enough to tell.
func (f *File) aboveLeaves(level []ref) bool {
	for _, at := range level {
		p, err := f.page(&at, nil)
		if err != nil || p.leaf {
			continue
		}
		for i := range p.count {
			below := p.child(i, at.after())
			if below, err := f.page(&below, nil); err == nil {
				return below.leaf
			}
		}
	}
	return true
}

// branches yields the sound branches of a level with their references.
func (f *File) branches(level []ref) iter.Seq2[page, *ref] {
	return func(yield func(page, *ref) bool) {
		const chunkLen = 8 * readsAtOnce
		var pages [chunkLen]page
		var errs [chunkLen]error
		for chunk := range slices.Chunk(level, chunkLen) {
			var readers sync.WaitGroup
			for first := range min(readsAtOnce, len(chunk)) {
				readers.Go(func() {
					for i := first; i < len(chunk); i += readsAtOnce {
						pages[i], errs[i] = f.page(&chunk[i], pages[i].b)
					}
				})
			}
			readers.Wait()
			for i := range chunk {
				at := &chunk[i]
				if errs[i] == nil && pages[i].leaf {
					errs[i] = errNotLevel(at.id)
				}
				if errs[i] != nil {
					f.reject(at.id, errs[i])
				} else if !yield(pages[i], at) {
					return
				}
			}
		}
	}
}

// reject reports a page that is not sound. It becomes a stray one.
func (f *File) reject(id uint64, err error) {
	f.used.remove(id)
	f.report(err)
}

func errNotLevel(id uint64) error {
	return badPage(id, "is not as deep in its tree as those beside it")
}
