package storage

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzRecord stores arbitrary bytes as records. A record of which a bit is flipped, or
// that is in the place of another, is refused.
func FuzzRecord(f *testing.F) {
	f.Add(idKey(1), []byte("Rex"), uint8(200))
	f.Add([]byte{}, []byte{}, uint8(1))
	f.Fuzz(func(t *testing.T, key, body []byte, bit uint8) {
		for _, table := range tables {
			value := binary.BigEndian.AppendUint32(bytes.Clone(body), table.sum(key, body))
			if got, err := table.open(key, value); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%s: what was stored is not opened: %v", table.name, err)
			}
			for _, other := range tables {
				if _, err := other.open(key, value); (err == nil) != bytes.Equal(other.name, table.name) {
					t.Fatalf("a record of %s stands in for one of %s", table.name, other.name)
				}
			}
			if _, err := table.open(append(key, 0), value); err == nil {
				t.Fatalf("%s: a record stands in for one under another key", table.name)
			}
			value[int(bit)%len(value)] ^= 1 << (bit % 8)
			if _, err := table.open(key, value); err == nil {
				t.Fatalf("%s: a flipped bit is not seen", table.name)
			}
		}
	})
}
