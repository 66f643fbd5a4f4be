package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

var self = os.Getpid()

// cost is a call whose time may depend on how much the store holds.
type cost struct {
	name   string
	target string // of the request over HTTP; "": it is not measured so
	call   func(*places) error

	// most bounds how often the call is made at a time, for one that makes
	// the store grow; 0: as often as there is time for.
	most int
}

var (
	costGet    = cost{"get", "/pets/%d", (*places).get, 0}
	costList   = cost{"list of 20", "/pets?cursor=%s", (*places).list, 0}
	costStatus = cost{"list of 20 by status", "/pets?status=sold&cursor=%s", (*places).listStatus, 0}
	costCreate = cost{"create, 1 caller", "", (*places).create, 200}
)

// places are a store together with places in it, picked by chance, that calls
// go to in turn.
type places struct {
	*bench
	store   *storage.Store
	ids     []int64
	cursors []petstore.Cursor
	at      int
	buf     []byte
}

// manyPlaces are enough for those in a large file not to stay in the
// processor's caches.
const manyPlaces = 1 << 16

func (b *bench) placesIn(s *storage.Store, n int64, howMany int) *places {
	p := &places{bench: b, store: s, ids: make([]int64, howMany), cursors: make([]petstore.Cursor, howMany)}
	for i := range howMany {
		p.ids[i] = 1 + rand.Int64N(n)
		p.cursors[i] = petstore.CursorAfter(1 + rand.Int64N(n))
	}
	return p
}

func (p *places) get() (err error) {
	p.buf, err = p.store.AppendPet(p.ctx, p.buf[:0], p.ids[p.at])
	return err
}

func (p *places) list() (err error) {
	p.buf, _, err = p.store.AppendPage(p.ctx, p.buf[:0], petstore.ListQuery{After: p.cursors[p.at]})
	return err
}

func (p *places) listStatus() (err error) {
	p.buf, _, err = p.store.AppendPage(p.ctx, p.buf[:0], petstore.ListQuery{Status: petstore.StatusSold, After: p.cursors[p.at]})
	return err
}

func (p *places) create() error {
	_, err := p.store.CreatePet(p.ctx, created, petstore.Once{})
	return err
}

// visit makes a call at every place, if it only reads, so that the pages there
// are in the process's memory.
func (p *places) visit(c cost) error {
	for p.at = range p.ids {
		if c.most > 0 {
			break
		}
		if err := c.call(p); err != nil {
			return err
		}
	}
	return nil
}

// timed is a side: the time that a call takes, over a while.
func (p *places) timed(c cost, while time.Duration) (side, error) {
	before := processTime(self)
	n := 0
	start := time.Now()
	for time.Since(start) < while && (c.most == 0 || n < c.most) {
		for range 16 { // looking at the clock takes time too
			p.at = (p.at + 1) % len(p.ids)
			if err := c.call(p); err != nil {
				return side{}, err
			}
			n++
		}
	}
	return side{time.Since(start).Seconds() / float64(n), (processTime(self) - before) / float64(n)}, nil
}

func (b *bench) largeGet() ([]row, error)    { return b.large(costGet) }
func (b *bench) largeList() ([]row, error)   { return b.large(costList) }
func (b *bench) largeStatus() ([]row, error) { return b.large(costStatus) }
func (b *bench) largeCreate() ([]row, error) { return b.large(costCreate) }

const mostForLarge = 1.3

// large holds a large store against a small one: called in this process, and
// over HTTP as clients see it.
func (b *bench) large(c cost) ([]row, error) {
	called, err := b.largeCalled(c)
	if err != nil {
		return nil, err
	}
	if c.target == "" {
		return []row{called}, nil
	}
	served, err := b.largeServed(c)
	if err != nil {
		return []row{called}, err
	}
	return []row{called, served}, nil
}

func (b *bench) largeCalled(c cost) (r row, err error) {
	path, err := b.largeFile()
	if err != nil {
		return r, err
	}
	large, err := storage.Open(path, nil)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, large.Close()) }()
	small, err := b.openCopy(smallPets)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, small.Close()) }()
	inLarge, inSmall := b.placesIn(large, b.pets, manyPlaces), b.placesIn(small, smallPets, manyPlaces)
	if err := inLarge.visit(c); err != nil {
		return r, err
	}
	pairs, err := b.interleave(
		func() (side, error) { return inLarge.timed(c, b.duration) },
		func() (side, error) { return inSmall.timed(c, b.duration) })
	return row{
		Figure: fmt.Sprintf("%s in %s pets", c.name, formatCount(b.pets)), Against: fmt.Sprintf("the same in %s, time of a call", formatCount(smallPets)),
		Unit: inSeconds, Reach: limit{atMostRatio, mostForLarge}, Pairs: pairs,
	}, err
}

// largeServed measures the same over HTTP, where requests a second are turned
// into the time for one. Creations are left out: so many would soon make the
// small store a large one.
func (b *bench) largeServed(c cost) (r row, err error) {
	path, err := b.largeFile()
	if err != nil {
		return r, err
	}
	large, err := b.serve(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, large.stop()) }()
	if path, err = b.copy(smallPets); err != nil {
		return r, err
	}
	small, err := b.serve(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, small.stop()) }()
	inLarge, inSmall := b.requests(large, c, b.pets), b.requests(small, c, smallPets)
	pairs, err := b.interleave(
		func() (side, error) { return b.timeServed(large, inLarge) },
		func() (side, error) { return b.timeServed(small, inSmall) })
	return row{
		Figure:  fmt.Sprintf("%s in %s pets", c.name, formatCount(b.pets)),
		Against: fmt.Sprintf("the same in %s, over HTTP, time for each request of %d connections", formatCount(smallPets), connections),
		Unit:    inSeconds, Reach: limit{atMostRatio, mostForLarge}, Pairs: pairs,
	}, err
}

// requests returns requests that go where places would.
func (b *bench) requests(s *server, c cost, n int64) request {
	p := b.placesIn(nil, n, manyPlaces/4)
	var targets []string
	for i := range p.ids {
		var at any = p.cursors[i]
		if c.name == costGet.name {
			at = p.ids[i]
		}
		targets = append(targets, fmt.Sprintf(c.target, at))
	}
	return s.get(targets...)
}

func (b *bench) timeServed(s *server, r request) (side, error) {
	got, err := b.throughput(s.Pid(), r, connections)
	got.Value = 1 / got.Value
	return got, err
}
