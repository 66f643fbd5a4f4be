package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"example.com/animalstore/petstore"
)

// What of its reads a processor-second has to keep while others write.
const leastOfReads = 0.8

// mixed measures what writers take from readers: of what a second of processor
// time is good for, and of the time that a client waits.
func (b *bench) mixed() ([]row, error) {
	called, err := b.mixedCalled()
	if err != nil {
		return nil, err
	}
	served, err := b.mixedServed()
	return append(called, served...), err
}

// mixedCalled has 32 callers read, with and without 32 others that create, in
// this process. The processor time is that of the readers' threads: the
// writers' own is no part of what a read costs.
func (b *bench) mixedCalled() (rows []row, err error) {
	s, err := b.openCopy(servedPets)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	readers := make([]*places, connections)
	for i := range readers {
		readers[i] = b.placesIn(s, servedPets, 1<<10)
	}
	pairs, err := b.interleave(
		func() (side, error) {
			ctx, stop := context.WithCancel(b.ctx)
			var writers sync.WaitGroup
			var mu sync.Mutex
			var failed error
			for range connections {
				writers.Go(func() {
					for ctx.Err() == nil {
						if _, err := s.CreatePet(b.ctx, created, petstore.Once{}); err != nil {
							mu.Lock()
							failed = err
							mu.Unlock()
							return
						}
					}
				})
			}
			got, err := b.readsPerProcessorSecond(readers)
			stop()
			writers.Wait()
			return got, errors.Join(err, failed)
		},
		func() (side, error) { return b.readsPerProcessorSecond(readers) })
	return []row{{
		Figure:  fmt.Sprintf("%d readers while %d write", connections, connections),
		Against: "reads alone; pets and lists of 20 in turn, in process, reads a processor-second of the readers' threads",
		Unit:    perSecond, Reach: limit{atLeastRatio, leastOfReads}, Pairs: pairs,
	}}, err
}

// readsPerProcessorSecond is a side. Each reader has a thread for itself, so
// that the system counts its time apart from all others'.
func (b *bench) readsPerProcessorSecond(readers []*places) (side, error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var reads int
	var used float64
	var failed error
	end := time.Now().Add(b.duration)
	for _, p := range readers {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			before := threadTime()
			n, err := p.readUntil(end)
			after := threadTime()
			mu.Lock()
			defer mu.Unlock()
			reads += n
			used += after - before
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	if failed == nil && used == 0 {
		failed = errors.New("the system does not tell the processor time of a thread")
	}
	return side{float64(reads) / used, used / float64(reads)}, failed
}

func (p *places) readUntil(end time.Time) (n int, err error) {
	for time.Now().Before(end) {
		for range 8 {
			p.at = (p.at + 1) % len(p.ids)
			if err := p.get(); err != nil {
				return n, err
			}
			if err := p.list(); err != nil {
				return n, err
			}
			n += 2
		}
	}
	return n, nil
}

// mixedServed is the same over HTTP, as clients see it: what 99 of 100 reads
// take at the most.
func (b *bench) mixedServed() (rows []row, err error) {
	path, err := b.copy(servedPets)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	reads := b.requests(s, costGet, servedPets)
	var alone, beside, writes []float64
	pairs, err := b.interleave(
		func() (side, error) {
			wrote := make(chan error, 1)
			go func() {
				l, err := b.put(s.create(), connections)
				writes = append(writes, l.rate())
				wrote <- err
			}()
			l, err := b.put(reads, connections)
			beside = append(beside, l.rate())
			return side{Value: l.P99}, errors.Join(err, <-wrote)
		},
		func() (side, error) {
			before := processTime(s.Pid())
			l, err := b.put(reads, connections)
			alone = append(alone, l.rate())
			return side{l.P99, (processTime(s.Pid()) - before) / l.Requests}, err
		})
	return []row{{
		Figure:  fmt.Sprintf("%d readers while %d write", connections, connections),
		Against: "reads alone, over HTTP, p99",
		Unit:    inSeconds, Pairs: pairs,
		Note: fmt.Sprintf("over HTTP and on the same cores as the clients: %.0f reads/s alone; %.0f reads/s beside %.0f creations/s", median(alone), median(beside), median(writes)),
	}}, err
}
