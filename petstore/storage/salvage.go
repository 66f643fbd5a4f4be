package storage

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/storage/internal/boltfile"
)

// place is where a block or a message is in a damaged file. All places are in
// memory at once, but not what is there.
type place struct {
	first  int64 // the ID of the first pet, or the number of the message
	at     int64 // where the value is
	len    uint32
	placed bool // on a leaf that is sound and in its place
}

// version is a version of a pet or a message.
type version struct {
	id     int64
	line   []byte
	placed bool // on a leaf that is sound and in its place
	differ bool // there are others, and none is placed
}

// salvage writes what is left in a damaged file. It skips free pages, as they may
// hold what was removed or never committed. undecided says that the state may not
// be that of the last commit.
func (x *export) salvage(s *scanner, undecided bool) {
	st := s.state
	if s.tables == nil {
		st = newestState(s.File)
	}
	pets, messages := st.lastPet(), st.Queued // how many there are
	x.Pets.Last, x.Messages.Last = pets, st.LastMessage
	x.merge(s, "pet", slices.Concat(find(s.File, petsIn, true), find(s.File, petsIn, false)), petsIn, &x.Pets)
	places := find(s.File, messageIn, true)
	removed := false // messages may be among those that are written
	// A damaged reference may lead to a free page, which holds what was removed.
	stale := slices.ContainsFunc(places, func(p place) bool { return s.Free(p.at) })
	if int64(len(places)) != messages || stale {
		places = append(places, find(s.File, messageIn, false)...)
		removed = s.FreeLost
	}
	x.merge(s, "message", places, messageIn, &x.Messages)
	x.Pets.Lost, x.Messages.Lost = max(0, pets-x.Pets.Written), max(0, messages-x.Messages.Written)
	if pets < 0 || undecided {
		x.Pets.Lost = -1
	}
	if messages < 0 || undecided || removed {
		x.Messages.Lost = -1
	}
}

// newestState looks for the newest state, and returns -1 in what is unknown without
// one. If the free pages are not known, that on a page which no tree leads to may
// be one that was never committed.
func newestState(f *boltfile.File) state {
	newest := state{LastIDs: [4]int64{-1}, LastMessage: -1, Queued: -1}
	for _, placed := range []bool{true, false} {
		if !placed && f.FreeLost {
			break
		}
		for e := range f.Scan(placed) {
			s, err := openState(e.Value)
			if err == nil && s.lastPet() >= newest.lastPet() && s.LastMessage >= newest.LastMessage {
				newest = s
			}
		}
	}
	return newest
}

// petsIn returns the pets in a block of any table, none if it is damaged or
// something else.
func petsIn(key, value []byte) (pets []version) {
	for i := range petTables {
		b, err := openBlock(&petTables[i], key, value)
		for i := 0; i < b.n && err == nil; i++ {
			pets = append(pets, version{id: b.id(i), line: b.records(i, i+1)})
		}
	}
	return pets
}

// messageIn returns the message in a record, none if it is damaged or something
// else.
func messageIn(key, value []byte) []version {
	m, err := openMessage(key, value)
	if err != nil {
		return nil
	}
	line, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return []version{{id: int64At(key), line: line}}
}

// find returns where there is something that open opens: on the leaves that are
// sound and in their place, or on all other pages that are not free.
func find(f *boltfile.File, open func(key, value []byte) []version, placed bool) (places []place) {
	for e := range f.Scan(placed) {
		if v := open(e.Key, e.Value); len(v) > 0 {
			places = append(places, place{v[0].id, e.At, uint32(len(e.Value)), placed})
		}
	}
	return places
}

// merge writes what is at places in the order of the IDs, each ID once, and none
// below 1 or above count.Last: those were never issued. name is pet or message, for reports.
func (x *export) merge(s *scanner, name string, places []place, open func(key, value []byte) []version, count *Counts) {
	var waiting []version // in the order of their IDs
	write := func(before int64) {
		for ; len(waiting) > 0 && waiting[0].id < before; waiting = waiting[1:] {
			switch v := waiting[0]; {
			case v.id < 1 || count.Last >= 0 && v.id > count.Last:
			case v.differ:
				x.found(damaged("there are different versions of the %s %d, so it is left out", name, v.id))
			default:
				if s.FreeLost && !v.placed && !x.doubtful {
					x.doubtful = true
					x.found(damaged("the free pages are not known: what is saved may be more than was acknowledged"))
				}
				_ = x.write(v.line, &count.Written)
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.first, b.first) })
	for _, p := range places {
		write(p.first) // no later place has these
		key, value := idKey(p.first), make([]byte, p.len)
		_, _ = s.file.ReadAt(value, p.at) // what cannot be read fails its checksum
		for _, v := range open(key[:], value) {
			v.placed = p.placed
			i, ok := slices.BinarySearchFunc(waiting, v.id, func(w version, id int64) int { return cmp.Compare(w.id, id) })
			switch {
			case !ok:
				waiting = slices.Insert(waiting, i, v)
			case v.placed && !waiting[i].placed:
				waiting[i] = v
			case s.FreeLost && !waiting[i].placed && !bytes.Equal(v.line, waiting[i].line):
				waiting[i].differ = true
			}
		}
	}
	write(math.MaxInt64)
}
