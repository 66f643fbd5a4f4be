package main

import (
	"errors"
	"fmt"
	"net/url"
)

// connections are how many clients read at once.
const connections = 32

// The pet that GET /pets/{id} is measured with. It is the same all the
// time, as the other side's answer is.
const fixedPet = servedPets / 2

func (b *bench) get() ([]row, error) {
	return b.shareOfBare("GET /pets/{id}", fmt.Sprintf("/pets/%d", fixedPet), 0.95)
}

func (b *bench) list20() ([]row, error) {
	return b.shareOfBare("GET /pets", "/pets", 0.92)
}

func (b *bench) list100() ([]row, error) {
	return b.shareOfBare("GET /pets?limit=100", "/pets?limit=100", 0.90)
}

func (b *bench) list100Sold() ([]row, error) {
	const target = "/pets?limit=100&status=sold"
	return b.shareOfBare("GET "+target, target, 0.90)
}

// shareOfBare holds the reference server, with its defaults, against a server
// that gives the very same response and looks at nothing.
func (b *bench) shareOfBare(name, target string, reach float64) (rows []row, err error) {
	our, bare, err := b.twoServers(target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, our.stop(), bare.end()) }()
	ourRequest, bareRequest := our.get(target), our.get(target)
	bareRequest.Addr = bare.addr
	if err := sameBytes(ourRequest, bareRequest); err != nil {
		return nil, err
	}
	pairs, err := b.interleave(
		func() (side, error) { return b.throughput(our.Pid(), ourRequest, connections) },
		func() (side, error) { return b.throughput(bare.pid(), bareRequest, connections) })
	if err != nil {
		return nil, err
	}
	return []row{{
		Figure: name, Against: "bare net/http, requests a second", Unit: perSecond,
		Reach: limit{atLeastRatio, reach}, Pairs: pairs,
	}}, sameBytes(ourRequest, bareRequest)
}

// twoServers starts the reference server, and a bare server that answers
// everything as the reference server answers GET target.
func (b *bench) twoServers(target string, args ...string) (*server, *bare, error) {
	path, err := b.copy(servedPets)
	if err != nil {
		return nil, nil, err
	}
	our, err := b.serve(path, args...)
	if err != nil {
		return nil, nil, err
	}
	raw, err := our.get(target).ask()
	if err != nil {
		our.Kill()
		return nil, nil, err
	}
	bare, err := startBare(b.ctx, bareSettings{Response: raw})
	if err != nil {
		our.Kill()
		return nil, nil, err
	}
	return our, bare, nil
}

// get returns the request for targets below the server's base path.
func (s *server) get(targets ...string) request {
	return s.request("GET", targets...)
}

func (s *server) request(method string, targets ...string) request {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err) // the server has printed it
	}
	r := request{Method: method, Addr: u.Host, Key: s.key}
	for _, t := range targets {
		r.Targets = append(r.Targets, u.Path+t)
	}
	return r
}
