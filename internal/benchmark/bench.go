package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// The stores that figures are measured on, beside the large one.
const (
	smallPets  = 1_000
	servedPets = 10_000
)

// bench is a run of the benchmark.
type bench struct {
	ctx      context.Context
	log      io.Writer
	dir      string // for files
	passing  string // a folder in dir that is removed at the end
	keep     bool   // dir was there before and stays
	pairs    int
	duration time.Duration
	pets     int64  // in the large file
	wrk      string // its path; "": use the Go client

	refserver string // its path, once built
	grown     []point
}

func (b *bench) prepare() (err error) {
	b.keep = b.dir != ""
	if b.keep {
		err = os.MkdirAll(b.dir, 0o700)
	} else {
		b.dir, err = os.MkdirTemp("", "petstore-benchmark-*")
	}
	if err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	b.passing, err = os.MkdirTemp(b.dir, "run-*")
	return err
}

func (b *bench) close() {
	_ = os.RemoveAll(b.passing)
	if !b.keep {
		_ = os.RemoveAll(b.dir)
	}
}

// build builds the reference server, once.
func (b *bench) build() (string, error) {
	if b.refserver != "" {
		return b.refserver, nil
	}
	exe := filepath.Join(b.passing, "refserver")
	out, err := exec.CommandContext(b.ctx, "go", "build", "-o", exe, "example.com/animalstore/cmd/refserver").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the reference server (run the benchmark inside the module): %w\n%s", err, out)
	}
	b.refserver = exe
	return exe, nil
}

// folder makes a folder that is gone when the run ends.
func (b *bench) folder() (string, error) { return os.MkdirTemp(b.passing, "") }

// pet is the one with a number: names have 12 bytes, and the three statuses
// and none come in turn.
func pet(n int64) petstore.NewPet {
	name := append(make([]byte, 0, 12), "pet 00000000"...)
	digits := strconv.AppendInt(nil, n, 10)
	copy(name[len(name)-len(digits):], digits)
	p := petstore.NewPet{Name: string(name), CategoryID: n % 100}
	if s := n % 4; s > 0 {
		p.Status = petstore.Statuses()[s-1]
	}
	return p
}

func newPets(n int64) iter.Seq[petstore.NewPet] {
	return func(yield func(petstore.NewPet) bool) {
		for i := range n {
			if !yield(pet(i)) {
				return
			}
		}
	}
}

// file returns the path of a store with that many pets, or a few more where
// figures have added to it: it is made if it is not there.
func (b *bench) file(n int64) (string, error) {
	path := b.path(n)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// Under its own name only once it is whole: the next run may find it.
	making := filepath.Join(b.passing, filepath.Base(path))
	if err := b.load(making, n); err != nil {
		return "", err
	}
	return path, os.Rename(making, path)
}

func (b *bench) path(n int64) string {
	return filepath.Join(b.dir, fmt.Sprintf("pets-%d.db", n))
}

func (b *bench) load(path string, n int64) error {
	s, err := storage.Open(path, nil)
	if err != nil {
		return err
	}
	_, err = s.Load(b.ctx, newPets(n))
	return errors.Join(err, s.Close())
}

// copy returns the path of a copy of the store with that many pets, in a
// folder of its own.
func (b *bench) copy(n int64) (string, error) {
	from, err := b.file(n)
	if err != nil {
		return "", err
	}
	dir, err := b.folder()
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "pets.db")
	return to, copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// openCopy opens a copy of the store with that many pets.
func (b *bench) openCopy(n int64) (*storage.Store, error) {
	path, err := b.copy(n)
	if err != nil {
		return nil, err
	}
	return storage.Open(path, nil)
}

// largeFile returns the path of the large store, which is then in the page
// cache, if there is room: what is held against a small store is the store and
// not the disk.
func (b *bench) largeFile() (string, error) {
	path, err := b.file(b.pets)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return path, err
}
