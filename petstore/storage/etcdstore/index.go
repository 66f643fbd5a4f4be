package etcdstore

import (
	"sort"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"

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

// learn adds marks and blocks that were read to the cache.
func (s *Store) learn(keys []string, kvs []*mvccpb.KeyValue) error {
	for i, key := range keys {
		body, err := open(key, kvs[i].Value)
		if err != nil {
			return err
		}
		if key[:1] == markKey {
			if len(body) != 8*3 {
				return damaged("the mark %q has %d bytes", key, len(body))
			}
			s.blocks.put(key, []int64{int64At(body), int64At(body[8:]), int64At(body[16:])})
			continue
		}
		ids, rest, err := decodeIDs(body, idsPerBlock)
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return damaged("the block %q is too long", key)
		}
		s.blocks.put(key, ids)
	}
	return nil
}

// cache holds marks and blocks, which never change. It has two halves. When the
// newer one is full, the older one is dropped and an empty one takes its place.
// What is used in the older half moves to the newer one.
type cache struct {
	mu       sync.Mutex
	now, old map[string][]int64
}

// maxCached limits the marks and blocks in a cache, of about a kilobyte each.
const maxCached = 8192

func (c *cache) get(key string) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.now[key]; ok {
		return v
	}
	v, ok := c.old[key]
	if ok {
		c.add(key, v)
	}
	return v
}

func (c *cache) put(key string, v []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, v)
}

func (c *cache) add(key string, v []int64) {
	if c.now == nil || len(c.now) >= maxCached/2 {
		c.old, c.now = c.now, make(map[string][]int64)
	}
	c.now[key] = v
}
