package benchmark

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// side is one of those that a benchmark measures in turn.
type side struct {
	name    string
	measure func(*testing.B)
}

// compare measures the sides in the order A B B A and so on, so that all suffer
// alike if the speed of the machine changes.
func compare(b *testing.B, sides ...side) {
	for pair := range *pairs {
		for i := range sides {
			if pair%2 == 1 {
				i = len(sides) - 1 - i
			}
			b.Run(fmt.Sprintf("pair=%d/side=%s", pair, sides[i].name), sides[i].measure)
		}
	}
}

// BenchmarkRead compares GET requests to servers with a bare one.
func BenchmarkRead(b *testing.B) {
	for _, tt := range []struct{ name, path string }{
		{"get", "/pets/500"},
		{"list-20", "/pets"},
		{"list-100", "/pets?limit=100"},
		{"list-100-sold", "/pets?limit=100&status=sold"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			againstBare(b, 32, "Update", func(s *server) []byte { return s.get(tt.path) })
		})
	}
}

// BenchmarkCreate compares POST requests to servers with a bare one that stores
// each pet by a method of bbolt.
func BenchmarkCreate(b *testing.B) {
	for _, tt := range []struct {
		clients int
		commit  string
	}{{1, "Update"}, {64, "Batch"}} {
		b.Run(fmt.Sprintf("clients=%d", tt.clients), func(b *testing.B) {
			againstBare(b, tt.clients, tt.commit, func(s *server) []byte { return s.create(created) })
		})
	}
}

func againstBare(b *testing.B, clients int, commit string, request func(*server) []byte) {
	var all []*server
	for _, exe := range executables(b) {
		all = append(all, serveFilled(b, exe))
	}
	all = append(all, serveBare(b, all[0], request, commit))
	var sides []side
	for _, s := range all {
		sides = append(sides, side{s.name, s.load(clients, request(s))})
	}
	compare(b, sides...)
}

// BenchmarkMixed compares reads while others create with reads alone.
func BenchmarkMixed(b *testing.B) {
	s := serveFilled(b, executables(b)[0])
	alone := s.load(32, s.random(smallPets, "/pets/%[1]d")...)
	compare(b, side{"beside-creates", func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		failed := make(chan error)
		go func() {
			_, err := s.send(ctx, 32, math.MaxInt, [][]byte{s.create(created)})
			failed <- err
		}()
		alone(b)
		stop()
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}}, side{"alone", alone})
}

// BenchmarkLarge compares a server on a large file with one on a small one.
func BenchmarkLarge(b *testing.B) {
	large, small := newFile(b, *largest), newFile(b, smallPets)
	for _, tt := range []struct {
		name string
		form string // makes a path of an ID and the cursor after it
	}{
		{"get", "/pets/%[1]d"},
		{"list-20", "/pets?cursor=%[2]s"},
		{"list-100", "/pets?limit=100&cursor=%[2]s"},
		{"list-20-sold", "/pets?status=sold&cursor=%[2]s"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			l, s := serveFile(b, large), serveFile(b, small)
			compare(b, side{"large", l.load(32, l.random(*largest, tt.form)...)}, side{"small", s.load(32, s.random(smallPets, tt.form)...)})
		})
	}
	b.Run("create", func(b *testing.B) {
		l, s := serveFile(b, large), serveFile(b, small)
		compare(b, side{"large", l.load(64, l.create(created))}, side{"small", s.load(64, s.create(created))})
	})
}

// random returns requests for random ones of n pets.
func (s *server) random(n int64, form string) (requests [][]byte) {
	for _, q := range randomQueries(n) {
		requests = append(requests, s.get(fmt.Sprintf(form, q.id, q.after)))
	}
	return requests
}
