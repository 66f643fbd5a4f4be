package storage_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"example.com/animalstore/petstore"
)

func BenchmarkRead(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "pets.db"))
	ctx := b.Context()
	if _, err := s.Load(ctx, pets(10_000, -1)); err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			var err error
			if buf, err = s.AppendPet(ctx, buf[:0], int64(i%10000)+1); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, q := range []petstore.ListQuery{
		{}, {Limit: 100}, {Limit: 100, Status: petstore.StatusSold}, {Limit: 100, After: petstore.CursorAfter(5000)},
	} {
		b.Run(fmt.Sprintf("list/limit=%d,status=%s,after=%v", q.Limit, q.Status, q.After != ""), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, _, err = s.AppendPage(ctx, buf[:0], q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
