package storage

import (
	"bytes"
	"sort"

	"go.etcd.io/bbolt"
)

// bbolt trusts the pages that a transaction replaces: it copies as many elements
// as a header counts and frees as many pages as it claims, even if they are
// those of others. Opening a file checks only a few of its leaves, so each page
// is checked before the first change on it.

// guard checks pages as they were when a transaction began.
type guard struct {
	pages
	checked map[uint64]page // leaves without their data
	room    []byte          // for the next page
}

func newGuard(s *Store, tx *bbolt.Tx) guard {
	size := int64(s.db.Info().PageSize)
	m := meta{pageSize: size, pages: uint64(tx.Size() / size)}
	return guard{pages: pages{f: s.file, meta: m}, checked: map[uint64]page{}}
}

// begin checks what every transaction changes: the counters, and the tree of
// buckets.
func (g *guard) begin(tx *bbolt.Tx) error {
	root := tx.Cursor().Bucket()
	for _, t := range tables() {
		if err := g.path(root, t.name, false); err != nil {
			return err
		}
	}
	b, err := metaTable.bucket(tx)
	if err != nil {
		return err
	}
	return g.path(b, stateKey, false)
}

// ref is a reference from a branch to a page below it. The zero ref refers to no
// page.
type ref struct {
	id  uint64
	key []byte // the first in the page; nil for a root, whose first key can be any
}

// path checks the pages from the root of a bucket down to the leaf that a key
// is in or belongs in. If beside, it checks the pages beside those too: after a
// deletion bbolt may merge pages with them, and a cursor may move on to them.
//
// Every cursor of a write transaction goes where path has been: on a branch
// that leads back to itself, one takes memory without end.
func (g *guard) path(b *bbolt.Bucket, key []byte, beside bool) error {
	root := uint64(b.Root())
	if root == 0 {
		return nil // the bucket has no pages: it is inline in the tree of buckets
	}
	left, at, right := ref{}, ref{id: root}, ref{}
	for range maxDepth {
		n, err := g.check(at, 0)
		if err != nil {
			return err
		}
		l, err := g.check(left, n.flags)
		if err != nil {
			return err
		}
		r, err := g.check(right, n.flags)
		if err != nil {
			return err
		}
		if n.flags == leafFlag {
			return nil
		}
		i := max(0, sort.Search(n.count, func(i int) bool { return bytes.Compare(n.childKey(i), key) > 0 })-1)
		at = n.ref(i)
		if !beside {
			continue
		}
		if left = n.ref(i - 1); i == 0 {
			left = l.ref(l.count - 1)
		}
		if right = n.ref(i + 1); i+1 == n.count {
			right = r.ref(0)
		}
	}
	return badPage(root, "leads back to itself")
}

// ref returns the page that the i-th element of a checked branch leads to, and
// the zero ref if there is no such element.
func (n page) ref(i int) ref {
	if i < 0 || i >= n.count {
		return ref{}
	}
	return ref{native.Uint64(n.data[i*elementLen+8:]), n.childKey(i)}
}

// check returns the page that r refers to, or an error if the page is not sound.
// If flags is not 0, the page must have these flags: those of the pages beside
// it.
func (g *guard) check(r ref, flags uint16) (page, error) {
	if r.id == 0 && r.key == nil {
		return page{}, nil
	}
	n, ok := g.checked[r.id]
	if !ok {
		var overflow uint64
		var err error
		if g.room == nil {
			g.room = make([]byte, g.meta.pageSize)
		}
		if n, overflow, err = g.headInto(g.room, r.id); err == nil {
			err = n.sound(r.key, overflow)
		}
		if err != nil {
			return page{}, readError(r.id, err)
		}
		if n.flags == leafFlag {
			n.data = nil
		} else {
			g.room = nil // the page keeps it
		}
		g.checked[r.id] = n
	}
	if flags != 0 && n.flags != flags {
		return page{}, badPage(r.id, "is not as deep in its tree as those beside it")
	}
	return n, nil
}

// sound returns an error if a page is not as bbolt writes the pages of a tree.
// It must have as many elements as the header counts. After them must come
// their keys and values, without gaps and in the order of the keys. The page
// must claim exactly the further pages that these take. Its first key must be
// first, the key in the branch above, unless that is nil. Of a page that
// continues on others, n holds only the first.
func (n page) sound(first []byte, overflow uint64) error {
	if n.flags != leafFlag && n.flags != branchFlag {
		return badPage(n.id, "is no part of a tree: it has the flags %#x", n.flags)
	}
	end := uint64(n.count) * elementLen
	if end > uint64(len(n.data)) || n.count == 0 && (n.flags == branchFlag || first != nil) {
		return badPage(n.id, "has %d elements", n.count)
	}
	last := first
	for i := range n.count {
		e := n.data[i*elementLen:]
		var valueLen uint64
		if n.flags == leafFlag {
			valueLen = uint64(native.Uint32(e[12:]))
			e = e[4:] // after the flags, which a branch's element does not have
		}
		if uint64(i*elementLen)+uint64(native.Uint32(e)) != end {
			return badPage(n.id, "has a bad element %d", i)
		}
		keyLen := uint64(native.Uint32(e[4:]))
		if end+keyLen <= uint64(len(n.data)) {
			key := n.data[end : end+keyLen]
			if c := bytes.Compare(key, last); i == 0 && first != nil && c != 0 || i > 0 && c <= 0 {
				return badPage(n.id, "has its keys out of order at %d", i)
			}
			last = key
		}
		end += keyLen + valueLen
	}
	if need := (pageHeaderLen + end - 1) / uint64(len(n.data)+pageHeaderLen); overflow != need {
		return badPage(n.id, "claims the %d pages after it, but needs %d", overflow, need)
	}
	return nil
}
