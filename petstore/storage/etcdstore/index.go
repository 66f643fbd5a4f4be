package etcdstore

import (
	"sort"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"example.com/animalstore/petstore"
)

// The index of a status is the list of its IDs, cut into blocks. To find the
// place of an ID in it, there is a mark at every 128th pet that says how
// many of each status are before it: the place is then in the block that the
// mark leads to, or in the next one.

// mark writes the mark that stands before the next pet.
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

// plan finds the pets of a page of a status in st, which have IDs above
// after: limit of them at the most. more says that others follow. Where it
// needs records that are not in memory, it returns their keys and no IDs.
func (s *Store) plan(st *state, status petstore.Status, after int64, limit int) (ids []int64, more bool, missing []string) {
	if after >= st.lastPet {
		return nil, false, nil
	}
	i := statusIndex(status)
	place := int64(0) // in the list, not behind that of the first ID above after
	if chunk := after / idsPerBlock; chunk > 0 {
		key := numbered(markKey, chunk)
		counts := s.blocks.get(key)
		if counts == nil {
			return nil, false, []string{key}
		}
		place = counts[i]
	}
	n, full := place/idsPerBlock, st.count[i]/idsPerBlock
	// Three blocks have a page of 100, wherever in the first two it starts.
	for b := n; b < min(n+3, full); b++ {
		if key := indexBlockKey(i, b); s.blocks.get(key) == nil {
			missing = append(missing, key)
		}
	}
	for ; len(missing) == 0 && n <= full; n++ {
		list := st.tail[i]
		if n < full {
			if list = s.blocks.get(indexBlockKey(i, n)); list == nil {
				return nil, false, []string{indexBlockKey(i, n)} // dropped meanwhile
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

// learn puts marks and blocks that were read into the cache.
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

// cache keeps marks and blocks, which never change. When it is half full it
// starts anew beside what it has, and forgets what is not asked for again.
type cache struct {
	mu       sync.Mutex
	now, old map[string][]int64
}

// maxCached bounds what is kept, at about a kilobyte each.
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
