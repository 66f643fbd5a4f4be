package storage

import (
	"bytes"
	"sort"
)

// lookup returns the value of a key in a bucket, nil if there is none.
func (s *scanner) lookup(name, key []byte) []byte {
	root := s.roots[string(name)]
	p, err := page{}, error(nil)
	if root.inline != nil {
		p = *root.inline
	} else {
		p, err = s.page(root.id)
	}
	for depth := 0; err == nil && p.flags == branchFlag && depth <= maxDepth; depth++ {
		i := sort.Search(p.count, func(i int) bool {
			_, err := p.child(i)
			return err == nil && bytes.Compare(p.childKey(i), key) > 0
		})
		var child uint64
		if child, err = p.child(max(i-1, 0)); err == nil {
			p, err = s.page(child)
		}
	}
	for i := 0; err == nil && i < p.count; i++ {
		k, value, _, e := p.element(i)
		if e == nil && bytes.Equal(k, key) {
			return value
		}
	}
	return nil
}

// take claims a page with those that follow it as its own.
func (s *scanner) take(p page) error {
	n := uint64(len(p.data)+pageHeaderLen) / uint64(s.meta.pageSize)
	for id := p.id; id < p.id+n; id++ {
		if s.isFree(id) {
			return badPage(id, "is in use, and on the freelist too: the next change may overwrite it")
		}
		if err := s.claim(id); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) isFree(id uint64) bool { return s.free[id/64]&(1<<(id%64)) != 0 }
func (s *scanner) isUsed(id uint64) bool { return s.used[id/64]&(1<<(id%64)) != 0 }

// unaccounted calls yield for each page that is neither free nor was reached.
func (s *scanner) unaccounted(yield func(id uint64)) {
	for id := uint64(2); id < s.meta.pages; id++ {
		if !s.isFree(id) && !s.isUsed(id) {
			yield(id)
		}
	}
}
