package boltfile

import (
	"bytes"
	"io"
	"sort"

	"go.etcd.io/bbolt"
)

// maxDepth is how many branches may be above a leaf.
const maxDepth = 32

// Guard checks the pages that a write transaction is about to change, as they
// were when it began. bbolt trusts them: it copies as many elements as a header
// counts and frees as many pages as it claims, even those of others. A Guard is
// not safe for concurrent use.
type Guard struct {
	reader
	sound map[uint64]checked
	free  [][]byte // buffers for pages
}

// checked is a sound page, a leaf without its content, and where it was found.
type checked struct {
	page
	up uint64 // the branch above it; 0 for a root
	i  int    // its element
}

// NewGuard returns a guard of a file. It is used for one transaction after
// another, each of which starts with Reset.
func NewGuard(file io.ReaderAt, pageSize int64) *Guard {
	return &Guard{reader: reader{file: file, pageSize: pageSize}, sound: map[uint64]checked{}}
}

// Reset starts a transaction, in a file of that many bytes.
func (g *Guard) Reset(size int64) {
	for _, p := range g.sound {
		g.recycle(p.b)
	}
	clear(g.sound)
	g.pages = uint64(size / g.pageSize)
}

func (g *Guard) recycle(b []byte) {
	if b != nil && int64(len(b)) <= 4*g.pageSize { // a page with a large record is rare
		g.free = append(g.free, b)
	}
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
	root := uint64(b.Root())
	if root == 0 {
		return nil
	}
	left, at, right := ref{}, ref{id: root}, ref{}
	for range maxDepth {
		p, err := g.check(at)
		if err != nil {
			return err
		}
		l, err := g.neighbor(left, p)
		if err != nil {
			return err
		}
		r, err := g.neighbor(right, p)
		if err != nil {
			return err
		}
		if p.leaf {
			return nil
		}
		i := max(0, sort.Search(p.count, func(i int) bool { return bytes.Compare(p.key(i), key) > 0 })-1)
		if beside {
			if i > 0 {
				left = p.child(i-1, nil)
			} else if l.count > 0 {
				left = l.child(l.count-1, p.key(0))
			}
			if i+1 < p.count {
				right = p.child(i+1, at.after())
			} else if r.count > 0 {
				right = r.child(0, right.after())
			}
		}
		at = p.child(i, at.after())
	}
	return badPage(root, "leads back to itself")
}

// neighbor checks the page beside p, if there is one.
func (g *Guard) neighbor(at ref, p page) (page, error) {
	if at.up.b == nil {
		return page{}, nil
	}
	n, err := g.check(at)
	if err == nil && n.leaf != p.leaf {
		err = errNotLevel(at.id)
	}
	return n, err
}

// check returns the page that a reference leads to, if it is sound.
func (g *Guard) check(at ref) (page, error) {
	if c, ok := g.sound[at.id]; ok {
		if c.up != at.up.id || c.i != at.i {
			return page{}, badPage(at.id, "is in use twice")
		}
		return c.page, nil
	}
	var buf []byte
	if n := len(g.free); n > 0 {
		buf, g.free = g.free[n-1], g.free[:n-1]
	}
	p, err := g.page(&at, buf)
	if err != nil {
		return page{}, err
	}
	if p.leaf {
		if err := p.checkBuckets(); err != nil {
			return page{}, err
		}
		g.recycle(p.b)
		p.b = nil
	}
	g.sound[at.id] = checked{p, at.up.id, at.i}
	return p, nil
}
