package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// soak loads v and restarts it. Each restart calls restarted, if any, and drops
// the connections. The soak ends after three restarts and enough requests that
// each operation was sent many times.
func soak(t *testing.T, v variant, restarted func()) *conformance.SoakReport {
	t.Helper()
	var requested atomic.Int64
	counted := requests("", func(*http.Request) { requested.Add(1) })
	srv := newLoopback(counted(v.handler()))
	t.Cleanup(srv.Close)
	target := conformance.Target{URL: srv.URL + "/v1", MessagesURL: srv.URL + "/v1", Key: testKey}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	restarts := 0
	r, err := conformance.Soak(ctx, target, &conformance.Options{Timeout: 3 * time.Minute}, conformance.SoakOptions{
		For: time.Hour, Every: 100 * time.Millisecond,
		Restart: func(context.Context) error {
			srv.CloseClientConnections()
			if restarted != nil {
				restarted()
			}
			if restarts++; restarts >= 3 && requested.Load() > 300 {
				cancel()
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSoak(t *testing.T) {
	r := soak(t, variant{}, nil)
	if r.Outcome != conformance.Conformant || r.Restarts < 3 || r.Pets < 20 || r.Messages < 2 || r.Error != "" {
		t.Errorf("%+v\n%s", *r, r)
	}
}

// A soak finds what a target loses, changes or creates twice.
func TestSoakBroken(t *testing.T) {
	t.Run("a pet is lost at a restart", func(t *testing.T) {
		t.Parallel()
		var lost atomic.Bool
		v := variant{pets: func(s *store) {
			get := s.get
			s.get = func(ctx context.Context, id int64) (petstore.Pet, error) {
				if id == 1 && lost.Load() {
					return petstore.Pet{}, petstore.Errorf(petstore.CodeNotFound, "there is no such pet")
				}
				return get(ctx, id)
			}
		}}
		r := soak(t, v, func() { lost.Store(true) })
		wantFinding(t, r, "a pet is lost: ")
	})
	t.Run("a pet is changed", func(t *testing.T) {
		t.Parallel()
		r := soak(t, variant{http: set(fetch+"1 ", 200, "categoryId", "5")}, nil)
		wantFinding(t, r, "a pet has changed: ")
	})
	t.Run("an id is used again", func(t *testing.T) {
		t.Parallel()
		var restarts atomic.Bool
		v := variant{http: responses(create, 201, func(res *response) {
			if restarts.Load() {
				res.body = replace(`"id":\d+`, `"id":1`)(res.body)
			}
		})}
		r := soak(t, v, func() { restarts.Store(true) })
		wantFinding(t, r, "two pets have the same id: ")
	})
	t.Run("a pet is created twice", func(t *testing.T) {
		t.Parallel()
		v := variant{pets: func(s *store) {
			create := s.create
			s.create = func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
				mustCreate(create(ctx, n, petstore.Once{}))
				return create(ctx, n, once)
			}
		}}
		wantFinding(t, soak(t, v, nil), "a pet was created twice: ")
	})
	t.Run("a message id is used again", func(t *testing.T) {
		t.Parallel()
		wantFinding(t, soak(t, variant{http: set(submit, 202, "id", `"m"`)}, nil), "two messages have the same id: ")
	})
	t.Run("a list is not filtered", func(t *testing.T) {
		t.Parallel()
		wantFinding(t, soak(t, variant{http: query(`&status=\w+`, "")}, nil), "the list of pets with status ")
	})
	t.Run("a list fails", func(t *testing.T) {
		t.Parallel()
		wantFinding(t, soak(t, variant{http: refuses(list+".*limit=20", 200, 500)}, nil), "a list is requested with a valid key: ")
	})
}

func wantFinding(t *testing.T, r *conformance.SoakReport, start string) {
	t.Helper()
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Message, start) && r.Outcome == conformance.NotConformant {
			return
		}
	}
	t.Errorf("no finding starts with %q:\n%s", start, r)
}

// A soak that cannot restart its target is incomplete.
func TestSoakNotRestarted(t *testing.T) {
	opts := conformance.SoakOptions{For: time.Hour, Every: time.Millisecond, Restart: func(context.Context) error { return errors.New("no such service") }}
	r, err := conformance.Soak(t.Context(), newServer(t, variant{}), nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || !strings.Contains(r.Error, "no such service") {
		t.Errorf("%s", r)
	}
}
