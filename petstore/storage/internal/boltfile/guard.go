package boltfile

import (
	"bytes"
	"io"
	"sort"

	"go.etcd.io/bbolt"
)

// Guard checks the pages that a write transaction is about to change, as they
// were when it began. bbolt trusts them: it copies as many elements as a header
// counts and frees as many pages as it claims, even those of others. A Guard is
// not safe for concurrent use.
type Guard struct {
	reader
	sound map[place]page // pages that were checked; leaves without their content
	buf   []byte         // for the next page
}

// place is a reference to a page, by IDs.
type place struct {
	id, up uint64 // the page, and the branch that has the reference; 0: it is a root
	i      int    // the element of the branch
}

// NewGuard returns a guard of a file. It is used for one transaction after
// another, each of which starts with Reset.
func NewGuard(file io.ReaderAt, pageSize int64) *Guard {
	return &Guard{reader: reader{file: file, pageSize: pageSize}, sound: map[place]page{}}
}

// Reset starts a transaction, in a file of that many bytes.
func (g *Guard) Reset(size int64) {
	clear(g.sound)
	g.pages = uint64(size / g.pageSize)
}

// Check checks the pages from the root of a bucket down to the leaf that a key
// is in or belongs in. Errors wrap [ErrDamaged]. A bucket without pages of its own
// is checked with the leaf that it is in.
//
// If beside, Check checks the pages beside those too: after a deletion bbolt may
// merge pages with them, and a cursor may move on to them. Every cursor of a write
// transaction must stay where Check has been: on a branch that leads back to
// itself it takes memory without end.
func (g *Guard) Check(b *bbolt.Bucket, key []byte, beside bool) error {
	root := ref{id: uint64(b.Root())}
	if root.id == 0 {
		return nil
	}
	leaf, err := g.descend(root, key, false, beside)
	if first := leaf.first(); err == nil && beside && first != nil {
		_, err = g.descend(root, first, true, false)
	}
	if after := leaf.after(); err == nil && beside && after != nil {
		_, err = g.descend(root, after, false, false)
	}
	return err
}

// descend checks the pages from at down to the leaf that a key is in or belongs in
// or, if before is true, to the leaf before that key. If beside is true, it also
// checks the pages next to these that are below the same branch.
func (g *Guard) descend(at ref, key []byte, before, beside bool) (leaf ref, err error) {
	for range maxDepth {
		p, err := g.check(at)
		if err != nil || p.leaf {
			return at, err
		}
		i := sort.Search(p.count, func(i int) bool {
			c := bytes.Compare(p.key(i), key)
			return c > 0 || c == 0 && before
		})
		i = max(0, i-1)
		for j := i - 1; beside && j <= i+1; j++ {
			if j < 0 || j == p.count {
				continue
			}
			if _, err := g.check(p.child(j, at.after())); err != nil {
				return at, err
			}
		}
		at = p.child(i, at.after())
	}
	return at, badPage(at.id, "leads back to itself")
}

// check returns the page that a reference leads to, if it is sound.
func (g *Guard) check(at ref) (page, error) {
	where := place{at.id, at.up.id, at.i}
	if p, ok := g.sound[where]; ok {
		return p, nil
	}
	p, err := g.page(&at, g.buf)
	if err == nil && p.leaf {
		err = p.checkBuckets()
	}
	if err != nil {
		return page{}, err
	}
	g.buf = nil
	if p.leaf {
		if int64(len(p.b)) == g.pageSize { // keep no larger buffer: pages with large records are rare
			g.buf = p.b
		}
		p.b = nil
	}
	g.sound[where] = p
	return p, nil
}
