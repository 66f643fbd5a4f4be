package benchmark

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// smallPets is how many pets the small file has.
const smallPets = 1_000

// request is a kind of request that is measured.
type request struct {
	name    string
	clients int
	form    string // makes a path of an ID and the cursor after it; "": a create
	commit  string // the method of bbolt with which a bare server stores a pet
}

// The creates come last, since they make the files larger.
var requests = []request{
	{"get", 32, "/pets/%[1]d", "Update"},
	{"list-20", 32, "/pets?cursor=%[2]s", "Update"},
	{"list-100", 32, "/pets?limit=100&cursor=%[2]s", "Update"},
	{"list-100-sold", 32, "/pets?limit=100&status=sold&cursor=%[2]s", "Update"},
	{"create", 1, "", "Update"},
	{"create", 64, "", "Batch"},
}

// text returns a request as it is sent, about the pet with an ID or the pets after it.
func (r request) text(s *server, id int64) []byte {
	if r.form == "" {
		return s.create()
	}
	return s.get(fmt.Sprintf(r.form, id, petstore.CursorAfter(id)))
}

// all returns so many requests about random pets that the pages of a large file do
// not stay in the processor's caches.
func (r request) all(s *server) (texts [][]byte) {
	if r.form == "" {
		return [][]byte{s.create()}
	}
	for range 1 << 16 {
		texts = append(texts, r.text(s, 1+rand.Int64N(s.pets)))
	}
	return texts
}

// BenchmarkServer compares servers on a small and on a large file with a bare one.
// They are measured in the order A B C, C B A and so on, so that all suffer alike if
// the speed of the machine changes.
func BenchmarkServer(b *testing.B) {
	var all []*server
	for _, exe := range executables(b) {
		all = append(all, serve(b, exe, newFile(b, smallPets), smallPets), serve(b, exe, newFile(b, *largest), *largest))
	}
	for _, r := range requests {
		b.Run(fmt.Sprintf("%s/clients=%d", r.name, r.clients), func(b *testing.B) {
			sides := append(all[:len(all):len(all)], serveBare(b, all[0], r))
			var loads []func(*testing.B)
			for _, s := range sides {
				loads = append(loads, s.load(r.clients, r.all(s)))
			}
			for round := range *rounds {
				for i := range sides {
					if round%2 == 1 {
						i = len(sides) - 1 - i
					}
					b.Run(fmt.Sprintf("round=%d/server=%s", round, sides[i].name), loads[i])
				}
			}
		})
	}
}

// BenchmarkOpen measures how long it takes to open the large file after a server
// that was creating pets was killed.
func BenchmarkOpen(b *testing.B) {
	path, exe := newFile(b, *largest), executables(b)[0]
	var took []float64
	for b.Loop() {
		s := serve(b, exe, path, *largest)
		time.AfterFunc(200*time.Millisecond, s.Kill)
		_, _ = s.send(b.Context(), 64, math.MaxInt, [][]byte{s.create()}) // fails when the server is killed
		<-s.Ended
		start := time.Now()
		store, err := storage.Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start).Seconds()*1e3)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "open-p50-ms")
}
