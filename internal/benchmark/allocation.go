package main

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
)

const mostAllocations = 6

// allocations counts what our code allocates for a GET, in two ways: the
// handler called by itself, with what it is given and what it writes to at no
// cost; and the whole server as it answers over a socket. Both less what the
// bare handler allocates for the same answer.
func (b *bench) allocations() (rows []row, err error) {
	for _, target := range []string{fmt.Sprintf("/pets/%d", fixedPet), "/pets", "/pets?limit=100", "/pets?limit=100&status=sold"} {
		alone, err := b.handlerAllocations(target)
		if err != nil {
			return rows, err
		}
		served, err := b.serverAllocations(target)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{
			Figure: "allocations, GET " + target, Against: "beyond the bare handler's, handler alone", Unit: count,
			Reach: limit{atMost, mostAllocations}, Pairs: []pair{{Ours: side{Value: alone}}},
		}, row{
			Figure: "allocations, GET " + target, Against: "beyond the bare server's, server process", Unit: count,
			Reach: limit{atMost, mostAllocations}, Pairs: []pair{{Ours: side{Value: served}}},
		})
	}
	return rows, nil
}

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

// handlerAllocations calls our handler, on a store and a key file as the
// reference server has them, and the bare handler.
func (b *bench) handlerAllocations(target string) (n float64, err error) {
	store, err := b.openCopy(servedPets)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	key, entry, err := apikey.New("benchmark", time.Now(), time.Time{})
	if err != nil {
		return 0, err
	}
	dir, err := b.folder()
	if err != nil {
		return 0, err
	}
	keyFile := filepath.Join(dir, "keys")
	if err := apikey.Add(keyFile, entry); err != nil {
		return 0, err
	}
	keys, err := apikey.Open(keyFile, nil)
	if err != nil {
		return 0, err
	}
	defer keys.Close()
	r, err := http.NewRequest("GET", target, nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	per := func(h http.Handler) (float64, *sink) {
		w := &sink{header: make(http.Header)}
		n := testing.AllocsPerRun(1000, func() {
			clear(w.header)
			h.ServeHTTP(w, r)
		})
		return n, w
	}
	ours, w := per(httpapi.New(store, keys, &httpapi.Options{Encoded: store}))
	if w.status != 0 && w.status != http.StatusOK {
		return 0, fmt.Errorf("GET %s was answered with %d", target, w.status)
	}
	c := canned{status: http.StatusOK, body: make([]byte, w.bytes)}
	for name, values := range w.header {
		c.fields = append(c.fields, field{name, values})
	}
	theirs, _ := per(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.write(w) }))
	return ours - theirs, nil
}

// serverAllocations has the two servers answer over loopback.
func (b *bench) serverAllocations(target string) (n float64, err error) {
	our, bare, err := b.twoServers(target, "-admin-addr=127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, our.stop(), bare.end()) }()
	ourRequest, bareRequest := our.get(target), our.get(target)
	bareRequest.Addr = bare.addr
	ours, err := b.mallocsPerRequest(our.mallocs, ourRequest)
	if err != nil {
		return 0, err
	}
	theirs, err := b.mallocsPerRequest(bare.mallocs, bareRequest)
	return ours - theirs, err
}

func (b *bench) mallocsPerRequest(count func() (float64, error), r request) (float64, error) {
	if _, err := b.put(r, connections); err != nil { // the connections' own
		return 0, err
	}
	before, err := count()
	if err != nil {
		return 0, err
	}
	l, err := b.put(r, connections)
	if err != nil {
		return 0, err
	}
	after, err := count()
	return (after - before) / l.Requests, err
}

// mallocs returns how many objects the server has allocated.
func (s *server) mallocs() (float64, error) {
	resp, err := http.Get(s.Admin + "/debug/vars")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var vars struct {
		Memstats struct{ Mallocs float64 } `json:"memstats"`
	}
	if err := json.UnmarshalRead(resp.Body, &vars); err != nil {
		return 0, fmt.Errorf("/debug/vars: %w", err)
	}
	return vars.Memstats.Mallocs, nil
}
