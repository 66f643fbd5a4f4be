package main

import (
	"errors"
	"fmt"
	"time"
)

// mostMemory is what the server may have in memory of its own, in bytes.
const mostMemory = 64e6

// memory measures what a reference server on the large file has in memory
// while it is read from everywhere and written to.
func (b *bench) memory() (rows []row, err error) {
	path, err := b.file(b.pets)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, l := range []struct {
		name    string
		request request
		clients int
	}{
		{"pets read at random", b.requests(s, costGet, b.pets), connections},
		{"pages of 100 read at random", b.requests(s, cost{target: "/pets?limit=100&cursor=%s"}, b.pets), connections},
		{"creations", s.create(), manyClients},
	} {
		var own, all float64
		pairs, err := b.repeat(func() (side, error) {
			o, a, err := b.memoryUnder(s, l.request, l.clients)
			own, all = max(own, o), max(all, a)
			return side{Value: o}, err
		})
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{
			Figure:  fmt.Sprintf("memory with %s pets", formatCount(b.pets)),
			Against: fmt.Sprintf("%s by %d clients, the most seen, page cache aside", l.name, l.clients),
			Unit:    inBytes, Reach: limit{atMost, mostMemory}, Pairs: pairs,
			Note: fmt.Sprintf("with the pages of the file that the process has mapped and the system can take back at any time, up to %s", inBytes.format(all)),
		})
	}
	return rows, nil
}

// memoryUnder puts load on a server and returns the most memory that it had
// meanwhile.
func (b *bench) memoryUnder(s *server, r request, clients int) (own, all float64, err error) {
	done := make(chan error, 1)
	go func() {
		_, err := b.put(r, clients)
		done <- err
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		o, a, err := processMemory(s.Pid())
		own, all = max(own, o), max(all, a)
		select {
		case loadErr := <-done:
			return own, all, errors.Join(err, loadErr)
		case <-tick.C:
		}
	}
}
