package etcdstore

import (
	"sort"
	"sync"

	"example.com/animalstore/petstore"
)

// The index of a status is the ascending list of its IDs, in blocks. Before
// every 128th pet there is a mark, which counts the pets of each status before
// it. So the place of an ID in the index is in the block that the mark leads to,
// or in the next one.

// indexBlockKey returns the key of the n-th block of the index of a status.
func indexBlockKey(status int, n int64) string {
	return numbered(indexKey+string(rune('0'+status)), n)
}

// index adds a pet to the index of a status.
func (u *update) index(status int, id int64) {
	u.count[status]++
	u.tail[status] = append(u.tail[status], id)
	if len(u.tail[status]) == idsPerBlock {
		u.put(indexBlockKey(status, u.count[status]/idsPerBlock-1), appendNumbers(nil, u.tail[status]))
		u.tail[status] = nil
	}
}

// plan returns the IDs of the pets of a list page in st: at most limit pets with
// that status and with IDs above after. more says that others follow. If plan
// needs records that are not in the cache, it returns only their keys.
func (s *Store) plan(st *state, status petstore.Status, after int64, limit int) (ids []int64, more bool, missing []string) {
	if after >= st.lastPet {
		return nil, false, nil
	}
	if status == "" {
		last := min(after+int64(limit), st.lastPet)
		for id := after + 1; id <= last; id++ {
			ids = append(ids, id)
		}
		return ids, last < st.lastPet, nil
	}
	i := statusIndex(status)
	place := int64(0) // in the index, at or before the first ID above after
	if chunk := after / idsPerBlock; chunk > 0 {
		key := numbered(markKey, chunk)
		counts := s.lists.get(key)
		if counts == nil {
			return nil, false, []string{key}
		}
		place = counts[i]
	}
	// A page of 100 starts in the first or second block and so ends by the third.
	first, full := place/idsPerBlock, st.count[i]/idsPerBlock
	for n := first; n < min(first+3, full); n++ {
		key := indexBlockKey(i, n)
		list := s.lists.get(key)
		if list == nil {
			missing = append(missing, key)
		}
		ids = append(ids, list...)
	}
	if len(missing) > 0 {
		return nil, false, missing
	}
	if full < first+3 {
		ids = append(ids, st.tail[i]...)
	}
	ids = ids[sort.Search(len(ids), func(j int) bool { return ids[j] > after }):]
	if len(ids) > limit {
		return ids[:limit], true, nil
	}
	return ids, false, nil
}

// learn adds a mark or a block of an index that was read to the cache.
func (s *Store) learn(key string, v values) error {
	body, err := v.open(key)
	if err != nil {
		return err
	}
	n := int64(idsPerBlock)
	if key[:1] == markKey {
		n = int64(len(state{}.count))
	}
	list, rest, err := decodeNumbers(body, n)
	if err == nil && len(rest) > 0 {
		err = damaged("the record %q is too long", key)
	}
	if err == nil {
		s.lists.put(key, list)
	}
	return err
}

// cache holds marks and blocks of indexes, which never change. A full cache
// starts again empty.
type cache struct {
	mu  sync.Mutex
	all map[string][]int64
}

// maxCached limits the lists in a cache, of about a kilobyte each.
const maxCached = 8192

func (c *cache) get(key string) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key]
}

func (c *cache) put(key string, list []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) == maxCached {
		c.all = map[string][]int64{}
	}
	c.all[key] = list
}
