package petstoretest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/petstoretest"
)

// honest are clients that make no mistake. Each adds 30 pets, whose names begin with
// prefix. whole means that it does not give up, and adds each pet once.
var honest = []struct {
	does  string
	whole bool
	run   func(srv *petstoretest.Server, prefix string) error
}{
	{"petstore/client", true, withClient(&client.Options{MinWait: 5 * time.Millisecond}, 1)},
	{"petstore/client, 16 goroutines", true, withClient(&client.Options{MinWait: time.Millisecond}, 16)},
	{"petstore/client that repeats nothing", false, withClient(&client.Options{Tries: 1}, 2)},
	{"by hand", true, func(srv *petstoretest.Server, prefix string) error { return byHand(srv).job(prefix) }},
	{"by hand, and repeats reads only", false, func(srv *petstoretest.Server, prefix string) error {
		c := byHand(srv)
		c.once = true
		return c.job(prefix)
	}},
	{"by hand, and adds a pet again only if no list has it", true, func(srv *petstoretest.Server, prefix string) error {
		c := byHand(srv)
		c.once, c.edit = true, func(r *http.Request) { r.Header.Del("Idempotency-Key") }
		c.onlyHere = true
		for i := range 30 {
			for {
				name := fmt.Sprint(prefix, i)
				if _, err := c.create(pet{Name: name}); err == nil {
					break
				}
				all, err := c.list()
				if err != nil {
					return err
				}
				if slices.ContainsFunc(all, func(p pet) bool { return p.Name == name }) {
					break
				}
			}
		}
		return nil
	}},
}

func byHand(srv *petstoretest.Server) handwritten { return handwritten{base: srv.URL, key: srv.Key} }

// withClient uses petstore/client for all operations.
func withClient(opts *client.Options, goroutines int) func(*petstoretest.Server, string) error {
	return func(srv *petstoretest.Server, prefix string) error {
		c, err := client.New(srv.URL, srv.Key, opts)
		if err != nil {
			return err
		}
		errs := make([]error, goroutines)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := g; i < 30; i += goroutines {
					p := petstore.NewPet{Name: fmt.Sprint(prefix, i, "\u2028/\"🦊"), CategoryID: 1<<62 + int64(i), Status: append(petstore.Statuses(), "")[i%4]}
					errs[g] = errors.Join(errs[g], useClient(c, p))
				}
			})
		}
		wg.Wait()
		for _, err := range c.All(context.Background(), petstore.ListQuery{Limit: 7}) {
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// useClient adds p, gets it, and submits a message.
func useClient(c *client.Client, p petstore.NewPet) error {
	ctx := context.Background()
	want, err := c.CreatePet(ctx, p, petstore.Once{})
	if err != nil {
		return err
	}
	if got, err := c.GetPet(ctx, want.ID); err != nil || got != want || got.NewPet != p {
		return fmt.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	m, err := c.SubmitMessage(ctx, p.Name, petstore.Once{})
	if err == nil && m.Text != p.Name {
		err = fmt.Errorf("submitted %q, got %+v", p.Name, m)
	}
	return err
}

// The server finds no mistake of an honest client, or of two at once, and a client that
// does not give up has added each pet once.
func TestHonestClients(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup // most of the time they wait
	for i := range honest {
		for seed := range uint64(10) {
			wg.Go(func() { judgeHonest(t, i, seed) })
		}
	}
	wg.Wait()
}

// judgeHonest runs an honest client against a server of its own. If the seed is odd,
// another client uses the server at the same time.
func judgeHonest(t *testing.T, i int, seed uint64) {
	srv, err := petstoretest.Start(petstoretest.Difficult(seed))
	if err != nil {
		t.Error(err)
		return
	}
	defer srv.Close()
	run := func(i int, prefix string) {
		if err := honest[i].run(srv, prefix); err != nil && honest[i].whole {
			t.Errorf("%s, seed %d: %v", honest[i].does, seed, err)
		}
	}
	var both sync.WaitGroup
	both.Go(func() { run(i, "pet ") })
	if seed%2 == 1 {
		both.Go(func() { run(int(seed)%len(honest), "other pet ") })
	}
	both.Wait()
	names := map[string]bool{}
	for pet, err := range srv.Client.All(t.Context(), petstore.ListQuery{Limit: 7}) {
		if err != nil || names[pet.Name] {
			t.Errorf("%s, seed %d: %+v was added twice (%v)", honest[i].does, seed, pet, err)
		}
		names[pet.Name] = true
	}
	if seed%2 == 0 && honest[i].whole && len(names) != 30 {
		t.Errorf("%s, seed %d: %d pets were added, want 30", honest[i].does, seed, len(names))
	}
	for _, f := range srv.Summary().Findings {
		if f.Certain {
			t.Errorf("%s, seed %d: %s", honest[i].does, seed, f)
		}
	}
}

// wrong are clients with one mistake, a difficulty that shows it, and the finding.
var wrong = []struct {
	does, difficulty, finding string
	run                       func(handwritten) error
}{
	{"creates without Idempotency-Key, and repeats", "lost", "repeated-without-key", edited(func(r *http.Request) { r.Header.Del("Idempotency-Key") })},
	{"makes a new Idempotency-Key for each attempt", "lost", "repeated-without-key", edited(func(r *http.Request) { r.Header.Set("Idempotency-Key", rand.Text()) })},
	{"repeats at once after 429 and 503", "busy", "ignored-retry-after", func(c handwritten) error { c.hasty = true; return c.job("pet ") }},
	{"sends the key wherever a link leads", "link-elsewhere", "key-sent-elsewhere", func(c handwritten) error { c.trusts = true; return c.job("pet ") }},
	{"keeps IDs in a JavaScript number", "ids", "rounded-id", getFirst(func(id int64) any { return strconv.FormatFloat(float64(id), 'f', -1, 64) })},
	{"expects dense IDs", "ids", "not-found", getFirst(func(id int64) any { return id + 1 })},
	{"looks for the ID in an envelope", "extra-members", "no-id", getFirst(func(int64) any { return "undefined" })},
	{"asks for page 2", "short-pages", "own-cursor", query("limit=10&page=2")},
	{"asks for a page of 500", "short-pages", "refused", query("limit=500")},
	{"sends the key in the query", "busy", "unauthorized", func(c handwritten) error {
		c.edit = func(r *http.Request) { r.Header.Del("Authorization") }
		return query("api_key=" + c.key)(c)
	}},
	{"uses the deprecated operation", "ids", "deprecated-operation", getFirst(func(id int64) any { return id })},
}

// With one of the first seeds the server finds the mistake of each wrong client, and no
// other one.
func TestWrongClients(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for _, w := range wrong {
		wg.Go(func() {
			for seed := range uint64(20) {
				srv, err := petstoretest.Start(petstoretest.Difficult(seed, w.difficulty))
				if err != nil {
					t.Error(err)
					return
				}
				defer srv.Close()
				_ = w.run(byHand(srv)) // an error may be part of the mistake
				found := false
				for _, f := range srv.Summary().Findings {
					found = found || f.Name == w.finding
					if f.Certain && f.Name != w.finding {
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
	wg.Wait()
}

func edited(edit func(*http.Request)) func(handwritten) error {
	return func(c handwritten) error { c.edit = edit; return c.job("pet ") }
}

// query lists pets with other parameters.
func query(q string) func(handwritten) error {
	return func(c handwritten) error {
		_, err := c.call("GET", c.base+"/pets?"+q, nil, new([]pet))
		return err
	}
}

// getFirst adds a pet and gets the first one of the list, by what become makes of its ID.
func getFirst(become func(id int64) any) func(handwritten) error {
	return func(c handwritten) error {
		if _, err := c.create(pet{Name: "Rex"}); err != nil {
			return err
		}
		all, err := c.list()
		if err != nil || len(all) == 0 {
			return err
		}
		_, err = c.call("GET", fmt.Sprint(c.base, "/pets/", become(all[0].ID)), nil, new(pet))
		return err
	}
}
