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

// mark writes the mark before the next pet.
func (u *update) mark() {
	key := numbered(markKey, u.lastPet/idsPerBlock)
	b := make([]byte, 0, 8*len(u.count)+sumLen)
	for _, n := range u.count {
		b = appendInt64(b, n)
	}
	u.put(key, seal(key, b))
}

// index adds a pet to the index of a status.
func (u *update) index(status int, id int64) {
	u.count[status]++
	u.tail[status] = append(u.tail[status], id)
	if len(u.tail[status]) == idsPerBlock {
		key := indexBlockKey(status, u.count[status]/idsPerBlock-1)
		u.put(key, seal(key, appendIDs(nil, u.tail[status])))
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
		return sequence(after, last), last < st.lastPet, nil
	}
	i := statusIndex(status)
	place := int64(0) // in the index, at or before the first ID above after
	if chunk := after / idsPerBlock; chunk > 0 {
		key := numbered(markKey, chunk)
		counts := s.blocks.get(key)
		if counts == nil {
			return nil, false, []string{key}
		}
		place = counts[i]
	}
	n, full := place/idsPerBlock, st.count[i]/idsPerBlock
	// A page of 100 starts in the first or second block and so ends by the third.
	for b := n; b < min(n+3, full); b++ {
		if key := indexBlockKey(i, b); s.blocks.get(key) == nil {
			missing = append(missing, key)
		}
	}
	for ; len(missing) == 0 && n <= full; n++ {
		list := st.tail[i]
		if n < full {
			if list = s.blocks.get(indexBlockKey(i, n)); list == nil {
				return nil, false, []string{indexBlockKey(i, n)} // no longer in the cache
			}
		}
		list = list[sort.Search(len(list), func(j int) bool { return list[j] > after }):]
		if room := limit - len(ids); len(list) > room {
			return append(ids, list[:room]...), true, nil
		}
		ids = append(ids, list...)
		if len(ids) == limit {
			return ids, n < full && (n+1 < full || len(st.tail[i]) > 0), nil
		}
	}
	return ids, false, missing
}

// sequence returns the IDs above after, up to last.
func sequence(after, last int64) (ids []int64) {
	for id := after + 1; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

// learn adds a mark or block that was read to the cache.
func (s *Store) learn(key string, v values) error {
	body, err := v.open(key)
	if err != nil {
		return err
	}
	var list []int64
	if key[:1] == markKey {
		for ; len(body) >= 8; body = body[8:] {
			list = append(list, int64At(body))
		}
		if len(list) != len(state{}.count) {
			return damaged("the mark %q has %d numbers", key, len(list))
		}
	} else if list, body, err = decodeIDs(body, idsPerBlock); err != nil {
		return err
	}
	if len(body) > 0 {
		return damaged("the record %q is too long", key)
	}
	s.blocks.put(key, list)
	return nil
}

// cache holds marks and blocks, which never change. A full cache drops any of
// them for a new one.
type cache struct {
	mu  sync.Mutex
	all map[string][]int64
}

// maxCached limits the marks and blocks in a cache, of about a kilobyte each.
const maxCached = 8192

func (c *cache) get(key string) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key]
}

func (c *cache) put(key string, list []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string][]int64{}
	}
	for old := range c.all {
		if len(c.all) < maxCached {
			break
		}
		delete(c.all, old)
	}
	c.all[key] = list
}
