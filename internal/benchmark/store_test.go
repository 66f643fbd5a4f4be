package benchmark

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// BenchmarkOpen measures how long it takes to open the large file: after it was
// closed, after a server that was creating pets was killed, and both again when
// the file is not in the page cache.
func BenchmarkOpen(b *testing.B) {
	path := newFile(b, *largest)
	kill := func(b *testing.B) {
		s := serveFile(b, path)
		time.AfterFunc(200*time.Millisecond, s.Kill)
		_, _ = s.send(b.Context(), 64, math.MaxInt, [][]byte{s.create(created)}) // fails when the server is killed
		<-s.Ended
	}
	// What the disk itself or the host of a virtual machine caches remains.
	dropCache := func(b *testing.B) {
		if err := exec.Command("dd", "if="+path, "iflag=nocache", "count=0", "status=none").Run(); err != nil {
			b.Skip(err)
		}
	}
	for _, tt := range []struct {
		name    string
		prepare []func(*testing.B)
	}{
		{"closed", nil},
		{"killed", []func(*testing.B){kill}},
		{"closed-not-cached", []func(*testing.B){dropCache}},
		{"killed-not-cached", []func(*testing.B){kill, dropCache}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for _, prepare := range tt.prepare {
					prepare(b)
				}
				b.StartTimer()
				s, err := storage.Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

func openStore(b *testing.B, pets int64) *storage.Store {
	s, err := storage.Open(newFile(b, pets), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkStore measures calls of stores with 1,000 pets and more, by powers
// of ten.
func BenchmarkStore(b *testing.B) {
	for n := int64(smallPets); n <= *largest; n *= 10 {
		b.Run(fmt.Sprintf("pets=%d", n), func(b *testing.B) { benchmarkStore(b, openStore(b, n), randomQueries(n)) })
	}
}

func benchmarkStore(b *testing.B, s *storage.Store, queries []query) {
	var buf []byte
	for _, c := range []struct {
		name string
		call func(query) error
	}{
		{"get", func(q query) (err error) {
			buf, err = s.AppendPet(b.Context(), buf[:0], q.id)
			return err
		}},
		{"list", func(q query) (err error) {
			buf, _, err = s.AppendPage(b.Context(), buf[:0], petstore.ListQuery{After: q.after})
			return err
		}},
		{"status", func(q query) (err error) {
			buf, _, err = s.AppendPage(b.Context(), buf[:0], petstore.ListQuery{After: q.after, Status: petstore.StatusSold})
			return err
		}},
		{"create", func(query) error {
			_, err := s.CreatePet(b.Context(), created, petstore.Once{})
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := c.call(queries[i%len(queries)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadersBesideWriters measures the processor time that a get and a
// list take of the threads of 32 readers, while others create. The writers'
// own work is not in cpu-ns/op.
func BenchmarkReadersBesideWriters(b *testing.B) {
	s, queries := openStore(b, smallPets), randomQueries(smallPets)
	for _, writers := range []int{0, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var running sync.WaitGroup
			for range writers {
				running.Go(func() {
					for ctx.Err() == nil {
						if _, err := s.CreatePet(b.Context(), created, petstore.Once{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			var mu sync.Mutex
			var seconds float64
			b.SetParallelism(32 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				runtime.LockOSThread() // the thread's processor time is the reader's
				defer runtime.UnlockOSThread()
				const thread = "/proc/thread-self"
				before := process.ThreadTime(thread)
				var buf []byte
				for i := 0; pb.Next(); i++ {
					q := queries[i%len(queries)]
					var err error
					if buf, err = s.AppendPet(b.Context(), buf[:0], q.id); err != nil {
						b.Error(err)
					}
					if buf, _, err = s.AppendPage(b.Context(), buf[:0], petstore.ListQuery{After: q.after}); err != nil {
						b.Error(err)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				seconds += process.ThreadTime(thread) - before
			})
			stop()
			running.Wait()
			b.ReportMetric(seconds*1e9/float64(b.N), "cpu-ns/op")
		})
	}
}
