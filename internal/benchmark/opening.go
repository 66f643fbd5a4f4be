package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// mostToOpen is how long opening the large file may take, in seconds.
const mostToOpen = 0.1

// open measures how long it takes to open the large file: after it was closed
// in good order, after a process that was writing to it was killed, and both
// again with none of it in the page cache.
func (b *bench) open() (rows []row, err error) {
	path, err := b.file(b.pets)
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name         string
		killed, cold bool
	}{
		{"closed cleanly", false, false},
		{"killed while writing", true, false},
		{"closed cleanly, not in the page cache", false, true},
		{"killed while writing, not in the page cache", true, true},
	} {
		pairs, err := b.repeat(func() (side, error) { return b.timeOpening(path, c.killed, c.cold) })
		if errors.Is(err, exec.ErrNotFound) {
			return rows, nil // dd is missing: what is left cannot be told
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{
			Figure: fmt.Sprintf("opening %s pets", formatCount(b.pets)), Against: c.name, Unit: inSeconds,
			Reach: limit{atMost, mostToOpen}, Pairs: pairs,
		})
	}
	return rows, nil
}

// timeOpening is a side. What a killed process has acknowledged has to be
// there.
func (b *bench) timeOpening(path string, killed, cold bool) (side, error) {
	var acknowledged int64
	if killed {
		w, err := startChild(b.ctx, "writer", path)
		if err != nil {
			return side{}, err
		}
		err = w.read(&acknowledged)
		if err = errors.Join(err, w.kill()); err != nil {
			return side{}, err
		}
	}
	if cold {
		if err := b.dropCache(path); err != nil {
			return side{}, err
		}
	}
	start := time.Now()
	s, err := storage.Open(path, nil)
	took := time.Since(start)
	if err != nil {
		return side{}, err
	}
	stats, err := s.Stats(b.ctx)
	if err == nil && stats.Pets < acknowledged {
		err = fmt.Errorf("the pet %d was acknowledged, and %d are there after kill -9", acknowledged, stats.Pets)
	}
	return side{Value: took.Seconds()}, errors.Join(err, s.Close())
}

// writeOn creates pets until it is killed. It tells the ID of one that was
// acknowledged, when there are some.
func writeOn(path string, in io.Reader) error {
	s, err := storage.Open(path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	acknowledged := make(chan int64)
	failed := make(chan error)
	for range manyClients {
		go func() {
			for i := 0; ; i++ {
				pet, err := s.CreatePet(context.Background(), created, petstore.Once{})
				if err != nil {
					failed <- err
				}
				if i == 10 {
					acknowledged <- pet.ID
				}
			}
		}()
	}
	select {
	case id := <-acknowledged:
		if err := tell(id); err != nil {
			return err
		}
	case err := <-failed:
		return err
	}
	_, err = io.Copy(io.Discard, in) // should the benchmark end before it kills this process
	return err
}

// dropCache takes a file out of the system's page cache, as far as the system
// allows it: a disk that is a file on another machine may be cached there.
func (b *bench) dropCache(path string) error {
	out, err := exec.CommandContext(b.ctx, "dd", "if="+path, "iflag=nocache", "count=0", "status=none").CombinedOutput()
	if err != nil {
		return fmt.Errorf("dd: %w: %s", err, out)
	}
	return nil
}
