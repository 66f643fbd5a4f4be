package etcdstore

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"example.com/animalstore/petstore"
)

// maxInline is the length in bytes of the longest name in a block. A longer one
// has a record of its own. So blocks stay small, and a list reads long names only
// if its page has room for them.
const maxInline = 256

// The first byte of a pet in a block has the number of its status, 0 for none,
// and whether its name has a record of its own.
const (
	statusBits = 0x03
	longBit    = 0x04
)

// record is a pet in a block, without its name if that is long.
type record struct {
	petstore.Pet
	size int // of the pet's JSON if the name is long, otherwise 0
}

// statusIndex returns the index of s in petstore.Statuses, -1 for "".
func statusIndex(s petstore.Status) int { return slices.Index(petstore.Statuses(), s) }

// appendPet appends a pet to a block.
func appendPet(b []byte, p petstore.Pet) ([]byte, error) {
	head := byte(1 + statusIndex(p.Status))
	if len(p.Name) <= maxInline {
		b = binary.AppendVarint(append(b, head), p.CategoryID)
		b = binary.AppendUvarint(b, uint64(len(p.Name)))
		return append(b, p.Name...), nil
	}
	json, err := p.AppendJSON(nil)
	if err != nil {
		return b, err
	}
	b = binary.AppendVarint(append(b, head|longBit), p.CategoryID)
	return binary.AppendUvarint(b, uint64(len(json))), nil
}

// decodeBlock returns the n records of block number block, whose contents are b.
func decodeBlock(block int64, n int, b []byte) ([]record, error) {
	text := string(b) // which all names share
	in := strings.NewReader(text)
	records := make([]record, n)
	for i := range records {
		r := &records[i]
		r.ID = block*petsPerBlock + int64(i) + 1
		var size uint64
		head, err := in.ReadByte()
		if err == nil {
			r.CategoryID, err = binary.ReadVarint(in)
		}
		if err == nil {
			size, err = binary.ReadUvarint(in)
		}
		long := head&longBit != 0
		if err != nil || head&^(statusBits|longBit) != 0 || long != (size > maxInline) || !long && size > uint64(in.Len()) {
			return nil, damaged("the record of the pet %d is malformed", r.ID)
		}
		if n := head & statusBits; n > 0 {
			r.Status = petstore.Statuses()[n-1]
		}
		if long {
			r.size = int(min(size, 1<<30))
			continue
		}
		r.Name = text[len(text)-in.Len():][:size]
		_, _ = in.Seek(int64(size), io.SeekCurrent)
	}
	if in.Len() > 0 {
		return nil, damaged("%d bytes follow the %d pets of block %d", in.Len(), n, block)
	}
	return records, nil
}

// blockOf returns the number of the block that the pet with that ID is in,
// or will be in.
func blockOf(id int64) int64 { return (id - 1) / petsPerBlock }
