package httpapi_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// discard is a ResponseWriter that does nothing, so that a benchmark measures
// only the handler.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	return len(p), nil
}

// fixedReader is a store that returns a fixed pet.
type fixedReader struct {
	petstore.Service
	pet  []byte
	next petstore.Cursor
}

func (f fixedReader) Encodes(petstore.Service) bool { return true }

func (f fixedReader) AppendPet(_ context.Context, dst []byte, _ int64) ([]byte, error) {
	return append(dst, f.pet...), nil
}

func (f fixedReader) AppendPage(_ context.Context, dst []byte, q petstore.ListQuery) ([]byte, petstore.Cursor, error) {
	dst = append(dst, '[')
	for i := range q.Limit {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, f.pet...)
	}
	return append(dst, ']'), f.next, nil
}

// BenchmarkGET measures the handler alone, without a server and a store. The bare
// handler only writes the same response.
func BenchmarkGET(b *testing.B) {
	pet, err := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex the dog", CategoryID: 12, Status: "available"}}.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	reader := fixedReader{memory.New(nil), pet, petstore.CursorAfter(100)}
	h := httpapi.New(reader, testKeys, nil)
	observed := httpapi.New(reader, testKeys, &httpapi.Options{Observe: func(*http.Request, httpapi.Observation) {}})
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(pet)))
		_, _ = w.Write(pet)
	})
	for _, c := range []struct {
		name, target string
		handler      http.Handler
	}{
		{"bare", "/pets/7", bare},
		{"pet", "/pets/7", h},
		{"petObserved", "/pets/7", observed},
		{"list20", "/pets", h},
		{"list100", "/pets?limit=100", h},
		{"list100sold", "/pets?limit=100&status=sold", h},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := http.NewRequest("GET", c.target, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.RequestURI = "/v1" + c.target // as it is behind a router that strips /v1
			r.Header.Set("Authorization", "Bearer key-1")
			w := &discard{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				c.handler.ServeHTTP(w, r)
			}
			if w.status > 200 {
				b.Fatalf("status %d", w.status)
			}
		})
	}
}
