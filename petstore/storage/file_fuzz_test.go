package storage_test

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore/storage"
)

// FuzzFile changes bytes of a file, and checks, exports and opens it. These may
// only return results and errors. If the check finds nothing, reading returns no
// error.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "whole.db")
	writeContents(f, path)
	whole := used(mustRead(f, path))
	for page := range len(whole) / pageSize {
		at := uint32(page * pageSize)
		f.Add(binary.BigEndian.AppendUint32(nil, at+8), []byte{1}, 0)
		f.Add(binary.BigEndian.AppendUint32(nil, at+12), []byte{255, 255}, 0)
		f.Add(binary.BigEndian.AppendUint32(nil, at+16), []byte{1, 0, 0, 0, 200, 0, 0, 0}, 1)
	}
	f.Fuzz(func(t *testing.T, at, bytes []byte, cut int) {
		b := append([]byte(nil), whole...)
		for ; len(at) >= 4; at = at[4:] {
			copy(b[int(binary.BigEndian.Uint32(at))%len(b):], bytes)
		}
		if cut > 0 && cut < len(b) {
			b = b[:len(b)-cut]
		}
		path := filepath.Join(t.TempDir(), "pets.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		found := false
		if err := storage.Check(path, func(error) { found = true }); err != nil {
			found = true
		}
		_, _ = storage.Export(path, io.Discard, &storage.ExportOptions{SkipDamaged: true})
		s, err := storage.Open(path, nil)
		if err == nil {
			defer s.Close()
			_, err = readContents(t.Context(), s)
		}
		if err != nil && !found {
			t.Errorf("the check finds nothing, and the store says: %v", err)
		}
	})
}
