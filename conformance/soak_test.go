package conformance_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// soak loads v for a few seconds, and restarts it once: it calls restarted and drops the
// connections.
func soak(t *testing.T, v variant, restarted func()) *conformance.Report {
	t.Helper()
	srv := newLoopback(v.handler())
	t.Cleanup(srv.Close)
	target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}
	r, err := conformance.Soak(t.Context(), target, &conformance.Options{Timeout: patience}, conformance.SoakOptions{
		For: 4 * time.Second, Every: 2 * time.Second,
		Restart: func(context.Context) error {
			srv.CloseClientConnections()
			restarted()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A soak finds what a target loses, changes or creates twice.
func TestSoak(t *testing.T) {
	var restarted atomic.Bool
	lost := func(s *store) {
		get := s.get
		s.get = func(ctx context.Context, id int64) (petstore.Pet, error) {
			if id == 1 && restarted.Load() {
				return petstore.Pet{}, petstore.Errorf(petstore.CodeNotFound, "there is no such pet")
			}
			return get(ctx, id)
		}
	}
	reused := responses(create, 201, func(res *response) {
		if restarted.Load() {
			res.body = replace(`"id":\d+`, `"id":1`)(res.body)
		}
	})
	for _, tt := range []struct {
		name  string
		v     variant
		check string // that fails; "": none does
	}{
		{"nothing is wrong", variant{}, ""},
		{"a pet is lost at a restart", variant{pets: lost}, "pets.get.status"},
		{"an id is used again after a restart", variant{http: reused}, "pets.create.id.unique"},
		{"a pet is changed", variant{http: set(fetch+"1 ", 200, "categoryId", "5")}, "pets.get.created"},
		{"every fifth pet is stored twice", variant{pets: storesTwice}, "pets.create.once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := soak(t, tt.v, func() { restarted.Store(true) })
			restarted.Store(false)
			want := map[bool]conformance.Outcome{true: conformance.Conformant, false: conformance.NotConformant}[tt.check == ""]
			if r.Outcome != want || tt.check != "" && result(t, r, tt.check).Verdict != conformance.Fail || r.Restarts < 1 || r.Left.Pets < 10 {
				t.Errorf("%d restarts, %+v\n%s", r.Restarts, r.Counts, text(r))
			}
		})
	}
}

// A soak that cannot restart its target is incomplete.
func TestSoakNotRestarted(t *testing.T) {
	opts := conformance.SoakOptions{For: time.Hour, Every: time.Millisecond, Restart: func(context.Context) error { return errors.New("no such service") }}
	r, err := conformance.Soak(t.Context(), newServer(t, variant{}), nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || !strings.Contains(text(r), "no such service") {
		t.Errorf("%s", text(r))
	}
}
