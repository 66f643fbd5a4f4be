package petstoretest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/petstoretest"
)

// transport changes the requests and the responses of a client.
type transport struct {
	request  func(*http.Request)
	response func(*http.Response)
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.request != nil {
		r = r.Clone(r.Context())
		t.request(r)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && t.response != nil {
		t.response(resp)
	}
	return resp, err
}

var withoutKey = transport{request: func(r *http.Request) { delete(r.Header, "idempotency-key") }}

// add adds 30 pets from some goroutines, gets each and as many that are unknown, submits
// messages and lists all pets.
func add(c *client.Client, goroutines int) error {
	ctx := context.Background()
	errs := make([]error, goroutines)
	one := func(i int) error {
		p := petstore.NewPet{
			Name:       fmt.Sprint(i, "\u2028/\"🦊"),
			CategoryID: 1<<62 + int64(i),
			Status:     append(petstore.Statuses(), "")[i%4],
		}
		want, err := c.CreatePet(ctx, p, petstore.IdempotencyKey{})
		if err != nil {
			return err
		}
		if got, err := c.GetPet(ctx, want.ID); err != nil || got != want || got.NewPet != p {
			return fmt.Errorf("got %+v (%v), want %+v", got, err, want)
		}
		if _, err := c.GetPet(ctx, int64(i)); petstore.CodeOf(err) != petstore.CodeNotFound {
			return fmt.Errorf("an unknown pet: %v", err)
		}
		m, err := c.SubmitMessage(ctx, p.Name, petstore.IdempotencyKey{})
		if err == nil && m.Text != p.Name {
			err = fmt.Errorf("submitted %q, got %+v", p.Name, m)
		}
		return err
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < 30; i += goroutines {
				errs[g] = errors.Join(errs[g], one(i))
			}
		})
	}
	wg.Wait()
	for _, err := range c.All(ctx, petstore.ListQuery{Limit: 7}) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// The server finds no mistake of package client, which adds each pet once, repeats what failed
// and reads all pages.
func TestHonestClients(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup // most of the time they wait
	defer wg.Wait()
	for seed := range uint64(16) {
		srv := petstoretest.New(t, &petstoretest.Options{Difficult: &petstoretest.Difficulty{Seed: seed}})
		wg.Go(func() {
			if err := add(srv.Client, []int{1, 16}[seed%2]); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			pets, names := 0, map[string]bool{}
			for pet, err := range srv.Client.All(t.Context(), petstore.ListQuery{}) {
				if err != nil {
					t.Error(err)
				}
				pets++
				names[pet.Name] = true
			}
			if pets != 30 || len(names) != 30 {
				t.Errorf("seed %d: %d pets with %d names were added, want 30", seed, pets, len(names))
			}
			s := srv.Summary()
			if s.RepeatableFailures == 0 || s.RepeatedFailures != s.RepeatableFailures || s.Links == 0 || s.Followed != s.Links || s.Refused[404] != 30 {
				t.Errorf("seed %d: the client repeats all that it may and follows all links, but the server counts\n%s", seed, s)
			}
		})
	}
}

// With one of the first seeds the server finds the mistake of each wrong client, and no
// other one.
func TestWrongClients(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, w := range []struct {
		does, difficulty, finding string
		transport                 transport
	}{
		{"creates without Idempotency-Key, and repeats", "lost", "repeated-without-key", withoutKey},
		{"makes a new Idempotency-Key for each attempt", "lost", "repeated-without-key", transport{request: func(r *http.Request) { r.Header["idempotency-key"] = []string{rand.Text()} }}},
		{"repeats at once after 429 and 503", "busy", "ignored-retry-after", transport{response: func(resp *http.Response) { resp.Header.Del("Retry-After") }}},
		{"keeps IDs in a JavaScript number", "ids", "rounded-id", transport{request: func(r *http.Request) {
			if id, ok := strings.CutPrefix(r.URL.Path, "/v1/pets/"); ok {
				n, _ := strconv.ParseFloat(id, 64)
				r.URL.Path = "/v1/pets/" + strconv.FormatFloat(n, 'f', -1, 64)
			}
		}}},
	} {
		wg.Go(func() {
			for seed := range uint64(20) {
				h, err := petstoretest.NewHandler(&petstoretest.Difficulty{Seed: seed, Names: []string{w.difficulty}})
				if err != nil {
					t.Error(err)
					return
				}
				srv := httptest.NewServer(h)
				defer srv.Close()
				c, err := client.New(srv.URL+"/v1", petstoretest.Key, &client.Options{
					HTTPClient:  &http.Client{Transport: w.transport},
					RetryWrites: true,
					MinBackoff:  5 * time.Millisecond,
				})
				if err != nil {
					t.Error(err)
					return
				}
				_ = add(c, 1) // an error may be part of the mistake
				found := false
				for _, f := range h.Summary().Findings {
					found = found || f.Name == w.finding
					if f.Name != w.finding {
						t.Errorf("%s: another finding:\n%s", w.does, f)
					}
				}
				if found {
					return
				}
			}
			t.Errorf("%s: it is not found", w.does)
		})
	}
}
