package storage_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore/storage"
)

// FuzzFile changes bytes of a file, and checks, exports and opens it. These may only
// return results and errors. If the check finds nothing, reading returns no error.
func FuzzFile(f *testing.F) {
	d := small(f)
	reads := &stored{pets: d.pets, queue: d.queue} // a change finds damage that reads do not
	whole := used(d.file)
	for page := range len(whole) / pageSize {
		at := uint32(page * pageSize)
		f.Add(binary.BigEndian.AppendUint32(nil, at+8), []byte{1}, 0)
		f.Add(binary.BigEndian.AppendUint32(nil, at+12), []byte{255, 255}, 0)
		f.Add(binary.BigEndian.AppendUint32(nil, at+16), []byte{1, 0, 0, 0, 200, 0, 0, 0}, 1)
	}
	f.Fuzz(func(t *testing.T, at, with []byte, cut int) {
		b := bytes.Clone(whole)
		for ; len(at) >= 4; at = at[4:] {
			copy(b[int(binary.BigEndian.Uint32(at))%len(b):], with)
		}
		if cut > 0 && cut < len(b) {
			b = b[:len(b)-cut]
		}
		path := filepath.Join(t.TempDir(), "pets.db")
		writeFile(t, path, b)
		found := false
		if err := storage.Check(path, func(error) { found = true }); err != nil {
			found = true
		}
		_, _ = storage.Export(path, io.Discard, func(error) {})
		s, err := storage.Open(path, nil)
		pets, others := 0, 0
		if err == nil {
			defer s.Close()
			pets, others, err = reads.read(t.Context(), s)
		}
		if (err != nil || pets+others > 0) && !found {
			t.Errorf("the check finds nothing, and of the store %d reads fail: %v", pets+others, err)
		}
	})
}
