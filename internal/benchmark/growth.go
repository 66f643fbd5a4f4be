package main

import (
	"errors"
	"slices"
	"time"

	"example.com/animalstore/petstore/storage"
)

// point is what things cost at one size of the store.
type point struct {
	Pets    int64              `json:"pets"`
	Seconds map[string]float64 `json:"seconds"` // by the cost's name; medians
	Size    float64            `json:"size"`    // of the file, in bytes
}

// costs are those whose growth is told: of calls, and of opening the store,
// which is measured in a way of its own.
var (
	calls    = []cost{costGet, costList, costStatus, costCreate}
	costOpen = cost{name: "open"}
	costs    = append(calls[:len(calls):len(calls)], costOpen)
)

// growth measures how costs grow with the store, from 1,000 pets to the
// large number in steps of ten. The stores are measured in turn, up and down.
func (b *bench) growth() (rows []row, err error) {
	var points []point
	var stores []*places
	defer func() {
		for _, p := range stores {
			err = errors.Join(err, p.store.Close())
		}
	}()
	for n := int64(smallPets); n <= b.pets; n *= 10 {
		p, at, err := b.growthAt(n)
		if err != nil {
			return nil, err
		}
		points, stores = append(points, p), append(stores, at)
	}
	for _, p := range stores {
		for _, c := range calls {
			if err := p.visit(c); err != nil {
				return nil, err
			}
		}
	}
	order := make([]int, len(stores))
	for i := range order {
		order[i] = i
	}
	all := make([]map[string][]float64, len(stores))
	for i := range all {
		all[i] = map[string][]float64{}
	}
	for range b.pairs {
		for _, i := range order {
			for _, c := range calls {
				s, err := stores[i].timed(c, b.duration/4)
				if err != nil {
					return nil, err
				}
				all[i][c.name] = append(all[i][c.name], s.Value)
			}
		}
		slices.Reverse(order)
	}
	for i := range points {
		for name, times := range all[i] {
			points[i].Seconds[name] = median(times)
		}
	}
	b.grown = points
	return nil, nil
}

// growthAt opens a store with that many pets, a few times to see how long
// it takes.
func (b *bench) growthAt(n int64) (point, *places, error) {
	var path string
	var err error
	if n == b.pets {
		path, err = b.largeFile()
	} else {
		path, err = b.copy(n)
	}
	if err != nil {
		return point{}, nil, err
	}
	size, err := fileSize(path)
	if err != nil {
		return point{}, nil, err
	}
	p := point{Pets: n, Seconds: map[string]float64{}, Size: size}
	var times []float64
	for {
		start := time.Now()
		s, err := storage.Open(path, nil)
		if err != nil {
			return p, nil, err
		}
		times = append(times, time.Since(start).Seconds())
		if len(times) == b.pairs {
			p.Seconds[costOpen.name] = median(times)
			return p, b.placesIn(s, n, manyPlaces), nil
		}
		if err := s.Close(); err != nil {
			return p, nil, err
		}
	}
}
