package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"example.com/animalstore/petstore"
)

// FuzzRecord reads arbitrary bytes as records of every kind. Records that were not
// stored under their key are refused. Others that make no sense are an error, not a
// panic.
func FuzzRecord(f *testing.F) {
	key := idKey(1)
	pet, err := petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "Rex"}}.AppendJSON(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(key, pet, uint8(0))
	header := append(append(make([]byte, blockHeaderLen), key...), 0, 0, 0, byte(len(pet)))
	f.Add(key, append(header, pet...), uint8(3))
	f.Add(bytes.Repeat([]byte{1}, sha256.Size), make([]byte, binary.Size(outcome{})), uint8(200))
	f.Add([]byte{}, []byte{}, uint8(1))
	f.Add(key, bytes.Repeat([]byte{0xFF}, 12), uint8(9))
	f.Fuzz(func(t *testing.T, key, body []byte, bit uint8) {
		for i := range tables {
			table := &tables[i]
			sealed := binary.BigEndian.AppendUint32(bytes.Clone(body), table.sum(key, body))
			got, err := table.open(key, sealed)
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%s: what was stored is not opened: %v", table.name, err)
			}
			flipped := bytes.Clone(sealed)
			flipped[int(bit)%len(flipped)] ^= 1 << (bit % 8)
			if _, err := table.open(key, flipped); err == nil {
				t.Fatalf("%s: a flipped bit is not seen", table.name)
			}
			if _, err := queueTable.open(key, sealed); (err == nil) != (string(table.name) == "queue") {
				t.Fatalf("%s: a record stands in for one of the queue", table.name)
			}
			openMessage(key, sealed)
			openOutcome(table, key, sealed)
			b, err := openBlock(table, key, sealed)
			if err != nil {
				continue
			}
			safely(func() error {
				for len(b.pets) > 0 {
					_, json := b.next()
					decodePet(json)
				}
				return nil
			})
		}
	})
}
