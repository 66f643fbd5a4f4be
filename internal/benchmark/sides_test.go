package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"example.com/animalstore/petstore"
)

// The bare server gives what the reference server gives, byte for byte, and
// both keep the connection.
func TestBareGivesTheSameBytes(t *testing.T) {
	b := newBench(t)
	later := "/pets?limit=3&status=pending&cursor=" + string(petstore.CursorAfter(1))
	for _, target := range []string{"/pets/5000", "/pets", "/pets?limit=100", "/pets?limit=100&status=sold", later} {
		our, bare, err := b.twoServers(target)
		if err != nil {
			t.Fatal(err)
		}
		bareRequest := our.get(target)
		bareRequest.Addr = bare.addr
		if err := sameBytes(our.get(target), bareRequest); err != nil {
			t.Error(err)
		}
		if err := sameBytes(our.get("/pets/1"), bareRequest); err == nil {
			t.Errorf("GET %s was taken to be the same as another pet", target)
		}
		for _, r := range []request{our.get(target), bareRequest} {
			if _, err := b.put(r, 2); err != nil {
				t.Error(err)
			}
		}
		our.Kill()
		if err := bare.end(); err != nil {
			t.Error(err)
		}
	}
}

// The bare server's creation leaves a file with the same records as the
// store's.
func TestBarePutsTheSame(t *testing.T) {
	b := newBench(t)
	path, err := b.copy(smallPets)
	if err != nil {
		t.Fatal(err)
	}
	barePath, err := b.copy(smallPets)
	if err != nil {
		t.Fatal(err)
	}
	puts, pet, err := putsOf(path, created)
	if err != nil {
		t.Fatal(err)
	}
	if pet.ID != smallPets+1 || pet.NewPet != created {
		t.Errorf("created %v", pet)
	}
	db, err := bbolt.Open(barePath, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := putter{db: db, puts: puts, last: smallPets}
	if err := p.create(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := contents(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := contents(barePath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
}

// Both figures of creations can be had, which compares the answers and looks
// for what was acknowledged.
func TestCreations(t *testing.T) {
	b := newBench(t)
	for _, f := range []figure{{"create-1", (*bench).createOne}, {"create-64", (*bench).createMany}} {
		rows, err := f.run(b)
		if err != nil || len(rows) == 0 {
			t.Fatalf("%s: %v, %v", f.name, rows, err)
		}
		for _, r := range rows {
			for _, p := range r.Pairs {
				if p.Ours.Value <= 0 || p.Theirs.Value <= 0 {
					t.Errorf("%s: %+v", f.name, r)
				}
			}
		}
	}
}

// Both clients send what they are told, use every target, and count what they
// have sent.
func TestClients(t *testing.T) {
	b := newBench(t)
	clients := map[string]func(load) (loaded, error){"Go": b.byClient}
	var err error
	if b.wrk, err = exec.LookPath("wrk"); err == nil {
		clients["wrk"] = b.byWrk
	}
	for name, put := range clients {
		var mu sync.Mutex
		seen := map[string]int{}
		total := 0
		status := http.StatusCreated
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := make([]byte, 100)
			n, _ := r.Body.Read(body)
			mu.Lock()
			defer mu.Unlock()
			total++
			seen[strings.Join([]string{r.Method, r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body[:n])}, " ")]++
			w.WriteHeader(status)
		}))
		l := load{request{"POST", strings.TrimPrefix(srv.URL, "http://"), []string{"/a", "/b?c=d"}, "key", "{}"}, 2, b.duration.Seconds()}
		got, err := put(l)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mu.Lock() // a client that has ended may have left a request behind
		// wrk does not count what is still on its way at the end.
		if got.Requests < 2 || int(got.Requests) > total || total > int(got.Requests)+l.Clients || got.Failed != 0 || got.Seconds <= 0 || got.P50 <= 0 || got.P99 < got.P50 {
			t.Errorf("%s: %+v, and the server has seen %d", name, got, total)
		}
		if len(seen) != 2 || seen["POST /a Bearer key application/json {}"] == 0 || seen["POST /b?c=d Bearer key application/json {}"] == 0 {
			t.Errorf("%s: sent %v", name, seen)
		}
		status = http.StatusServiceUnavailable
		mu.Unlock()
		if got, err := put(l); err != nil || got.Failed == 0 {
			t.Errorf("%s: refusals are not told: %+v, %v", name, got, err)
		}
		srv.Close()
	}
}
