package etcdstore

import (
	"fmt"
	"slices"
)

// schema is the version of the layout in doc.go. It is the first byte of the
// state.
const schema = 1

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

	lastPet     int64    // the highest ID issued; IDs are dense, so this is the number of pets too
	lastMessage int64    // the highest number of a message
	queued      int64    // messages in the queue
	removed     int64    // all messages up to this number were removed from the queue
	count       [3]int64 // pets of each status

	// The IDs of each status, and the records of pets, that are not yet in a
	// full block. The slices are only appended to, so states can share them.
	tail [3][]int64
	pets []byte
}

// sealed returns how many blocks of pets there are.
func (s *state) sealed() int64 { return s.lastPet / petsPerBlock }

func (s *state) encode() []byte {
	b := append(make([]byte, 0, 512), schema)
	b = appendNumbers(b, append([]int64{s.lastPet, s.lastMessage, s.queued, s.removed}, s.count[:]...))
	for _, ids := range s.tail {
		b = appendNumbers(b, ids)
	}
	return append(b, s.pets...)
}

func decodeState(b []byte, rev int64) (*state, error) {
	if len(b) == 0 {
		return nil, damaged("the state is empty")
	}
	if b[0] > schema {
		return nil, fmt.Errorf("the store was made by a newer release: its layout has version %d, and this release knows %d", b[0], schema)
	}
	n, b, err := decodeNumbers(b[1:], 7)
	if err != nil {
		return nil, err
	}
	s := &state{rev: rev, lastPet: n[0], lastMessage: n[1], queued: n[2], removed: n[3], count: [3]int64(n[4:])}
	for i := range s.tail {
		if s.tail[i], b, err = decodeNumbers(b, s.count[i]%idsPerBlock); err != nil {
			return nil, err
		}
		if n := len(s.tail[i]); n > 0 && slices.Max(s.tail[i]) > s.lastPet {
			return nil, damaged("an index has the ID %d, and the last pet is %d", s.tail[i][n-1], s.lastPet)
		}
	}
	s.pets = b
	_, err = decodeBlock(s.sealed(), int(s.lastPet%petsPerBlock), s.pets)
	return s, err
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
