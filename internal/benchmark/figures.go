package main

import (
	"cmp"
	"fmt"
)

// reads compares the servers with a bare one by one GET request.
func reads(path string) func(*bench) error {
	return againstBare(32, "Update", func(s *server) []byte { return s.get(path) })
}

// creates compares the servers with a bare one that stores each pet by a
// method of bbolt.
func creates(clients int, commit string) func(*bench) error {
	return againstBare(clients, commit, func(s *server) []byte { return s.create(created) })
}

func againstBare(clients int, commit string, request func(*server) []byte) func(*bench) error {
	return func(b *bench) error {
		var servers []*server
		for _, exe := range b.servers {
			s, err := b.serveFilled(exe)
			if err != nil {
				return err
			}
			servers = append(servers, s)
		}
		bare, err := b.serveBare(servers[0], request, commit)
		if err != nil {
			return err
		}
		var sides []side
		for _, s := range append(servers, bare) {
			sides = append(sides, b.load(s.name, s, clients, request(s)))
		}
		return b.compare(sides...)
	}
}

// compare measures the sides, and prints them and the ratios of the first to
// each other one.
func (b *bench) compare(sides ...side) error {
	rows, err := b.measure(sides...)
	if err != nil {
		return err
	}
	for _, other := range rows[1:] {
		rows = append(rows, ratios(rows[0], other))
	}
	return b.print(loadColumns, rows...)
}

// mixed compares reads while others create with reads alone.
func mixed(b *bench) error {
	s, err := b.serveFilled(b.servers[0])
	if err != nil {
		return err
	}
	alone := b.load("alone", s, 32, s.random(smallPets, "/pets/%[1]d")...)
	creates := b.load("creates", s, 32, s.create(created))
	return b.compare(side{"beside creates", func() (result, error) {
		failed := make(chan error)
		go func() {
			_, err := creates.measure()
			failed <- err
		}()
		r, err := alone.measure()
		return r, cmp.Or(err, <-failed)
	}}, alone)
}

// large compares the large file with a small one. form makes a path of an ID
// and the cursor after it.
func large(form string) func(*bench) error {
	return func(b *bench) error {
		var sides []side
		for _, n := range []int64{b.pets, smallPets} {
			s, err := b.serveFile(n)
			if err != nil {
				return err
			}
			sides = append(sides, b.load(fmt.Sprintf("%d pets", n), s, 32, s.random(n, form)...))
		}
		return b.compare(sides...)
	}
}

// random returns requests for random ones of n pets.
func (s *server) random(n int64, form string) (requests [][]byte) {
	for _, q := range randomQueries(n) {
		requests = append(requests, s.get(fmt.Sprintf(form, q.id, q.after)))
	}
	return requests
}

// memory measures the memory of a server on the large file after a load.
func memory(b *bench) error {
	s, err := b.serveFile(b.pets)
	if err != nil {
		return err
	}
	after := func(load side) side {
		return side{load.name, func() (result, error) {
			_, err := load.measure()
			return result{s.memory("RssAnon"), s.memory("VmRSS")}, err
		}}
	}
	rows, err := b.measure(
		after(b.load("GET of pets by 32 clients", s, 32, s.random(b.pets, "/pets/%[1]d")...)),
		after(b.load("GET of 100 pets by 32 clients", s, 32, s.random(b.pets, "/pets?limit=100&cursor=%[2]s")...)),
		after(b.load("POST of pets by 64 clients", s, 64, s.create(created))))
	if err != nil {
		return err
	}
	return b.print([]string{"own MB", "MB with pages of the file"}, rows...)
}
