package etcdstore

import (
	"slices"
)

// The sizes of blocks. A block is written when it is full, and never changes.
// Until then its contents are in the state.
const (
	petsPerBlock = 16  // pets in a block of pets
	idsPerBlock  = 128 // IDs in a block of an index; pets between two marks
)

// state is the counters and the contents of blocks that are not full yet. It is
// one record. Every transaction of every process compares its revision and
// replaces it.
type state struct {
	rev int64 // of the cluster when it was written; not part of the record

	lastPet     int64 // the highest ID issued; IDs are dense, so this is the number of pets too
	lastMessage int64 // the highest number of a message
	queued      int64 // messages in the queue
	firstQueued int64 // no message before this one is in the queue
	count       [3]int64

	// The IDs of each status, and the records of pets, that are not yet in a
	// full block. The slices are only appended to, so states can share them.
	tail [3][]int64
	pets []byte
}

// sealed returns how many blocks of pets there are.
func (s *state) sealed() int64 { return s.lastPet / petsPerBlock }

func (s *state) encode() []byte {
	b := make([]byte, 0, 512)
	for _, n := range []int64{s.lastPet, s.lastMessage, s.queued, s.firstQueued, s.count[0], s.count[1], s.count[2]} {
		b = appendInt64(b, n)
	}
	for _, ids := range s.tail {
		b = appendIDs(b, ids)
	}
	return append(b, s.pets...)
}

func decodeState(b []byte, rev int64) (*state, error) {
	s := &state{rev: rev}
	fields := []*int64{&s.lastPet, &s.lastMessage, &s.queued, &s.firstQueued, &s.count[0], &s.count[1], &s.count[2]}
	if len(b) < 8*len(fields) {
		return nil, damaged("the state has %d bytes", len(b))
	}
	for i, n := range fields {
		*n = int64At(b[8*i:])
		if *n < 0 {
			return nil, damaged("a counter is negative")
		}
	}
	b = b[8*len(fields):]
	for i := range s.tail {
		var err error
		if s.tail[i], b, err = decodeIDs(b, s.count[i]%idsPerBlock); err != nil {
			return nil, err
		}
		if n := len(s.tail[i]); n > 0 && s.tail[i][n-1] > s.lastPet {
			return nil, damaged("an index has the ID %d, and the last pet is %d", s.tail[i][n-1], s.lastPet)
		}
	}
	s.pets = b
	if _, err := records(s.sealed()*petsPerBlock+1, int(s.lastPet%petsPerBlock), b); err != nil {
		return nil, err
	}
	return s, nil
}

// clone returns a copy that can be changed.
func (s *state) clone() state {
	c := *s
	for i := range c.tail {
		c.tail[i] = slices.Clip(c.tail[i])
	}
	c.pets = slices.Clip(c.pets)
	return c
}
