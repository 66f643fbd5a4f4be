package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// smallPets is how many pets every store has but the large one.
const smallPets = 1_000

// created is the pet that creates are measured with.
var created = petstore.NewPet{Name: "pet 00000000", CategoryID: 4, Status: petstore.StatusSold}

// opening measures how long it takes to open the large file: after it was
// closed, after a server that was creating pets was killed, and both again
// when the file is not in the page cache.
func opening(b *bench) error {
	path, err := b.file(b.pets)
	if err != nil {
		return err
	}
	open := func(name string, prepare ...func() error) side {
		return side{name, func() (result, error) {
			for _, f := range prepare {
				if err := f(); err != nil {
					return nil, err
				}
			}
			start := time.Now()
			s, err := storage.Open(path, nil)
			if err != nil {
				return nil, err
			}
			return result{time.Since(start).Seconds() * 1e3}, s.Close()
		}}
	}
	// What the disk itself or the host of a virtual machine caches remains.
	dropCache := func() error {
		return exec.Command("dd", "if="+path, "iflag=nocache", "count=0", "status=none").Run()
	}
	sides := []side{open("closed"), open("killed", b.killCreating)}
	if runtime.GOOS == "linux" {
		sides = append(sides, open("closed, not in the page cache", dropCache), open("killed, not in the page cache", b.killCreating, dropCache))
	}
	rows, err := b.measure(sides...)
	if err != nil {
		return err
	}
	return b.print([]string{"ms"}, rows...)
}

// killCreating kills a server while clients create pets in the large file.
func (b *bench) killCreating() error {
	s, err := b.serveFile(b.pets)
	if err != nil {
		return err
	}
	time.AfterFunc(200*time.Millisecond, s.Kill)
	_, _ = s.send(64, [][]byte{s.create(created)}, time.Minute) // fails when the server is killed
	<-s.Ended
	return nil
}

// file returns the path of a file with n pets, and a few more if figures have
// added some. If it must create the file, it prints how long that took.
func (b *bench) file(n int64) (string, error) {
	path := filepath.Join(b.dir, fmt.Sprintf("pets-%d.db", n))
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	start := time.Now()
	s, err := storage.Open(path, nil)
	if err != nil {
		return "", err
	}
	_, err = s.Load(b.ctx, newPets(n))
	if err := errors.Join(err, s.Close()); err != nil {
		return "", err
	}
	took := time.Since(start)
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(b.out, "  storage.Load of %d pets: %.4g s, %.4g MB\n", n, took.Seconds(), float64(info.Size())/1e6)
	return path, nil
}

// newPets returns n pets with names of 12 bytes. The statuses, and none, are
// equally frequent.
func newPets(n int64) iter.Seq[petstore.NewPet] {
	statuses := append(petstore.Statuses(), "")
	return func(yield func(petstore.NewPet) bool) {
		for i := range n {
			if !yield(petstore.NewPet{Name: fmt.Sprintf("pet %08d", i), CategoryID: i % 100, Status: statuses[i%4]}) {
				return
			}
		}
	}
}

// query is a place in a store.
type query struct {
	id    int64
	after petstore.Cursor
}

// randomQueries returns so many queries for n pets that the pages of a large
// file do not stay in the processor's caches.
func randomQueries(n int64) []query {
	queries := make([]query, 1<<16)
	for i := range queries {
		id := 1 + rand.Int64N(n)
		queries[i] = query{id, petstore.CursorAfter(id)}
	}
	return queries
}
