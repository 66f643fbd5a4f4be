package petstoretest_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/petstoretest"
)

// TestCarefulClient: the server finds no mistake of a client that makes none, and
// the client creates nothing twice.
func TestCarefulClient(t *testing.T) {
	var wg sync.WaitGroup
	for seed := range uint64(100) {
		wg.Go(func() {
			srv, err := petstoretest.Start(petstoretest.Difficult(seed))
			if err != nil {
				t.Error(err)
				return
			}
			defer srv.Close()
			if err := (handwritten{base: srv.URL, key: srv.Key}).job(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			page, err := srv.Store.ListPets(t.Context(), petstore.ListQuery{Limit: petstore.MaxLimit})
			if err != nil || len(page.Pets) != 30 {
				t.Errorf("seed %d: the store has %d pets, want 30: %v", seed, len(page.Pets), err)
			}
			for _, f := range srv.Findings() {
				t.Errorf("seed %d: %s", seed, f)
			}
		})
	}
	wg.Wait()
}

// mistakes are clients that each have one mistake, a difficulty that shows it,
// and the name of the finding.
var mistakes = []struct {
	does, difficulty, finding string

	client handwritten
	also   func(handwritten) error // what it does after the job; nil: nothing
}{
	{does: "creates without Idempotency-Key, and repeats", difficulty: "lost-response", finding: "repeated-without-key",
		client: handwritten{edit: func(r *http.Request) { r.Header.Del("Idempotency-Key") }}},
	{does: "creates without Idempotency-Key, and repeats after a lost request", difficulty: "lost-request", finding: "repeated-without-key",
		client: handwritten{edit: func(r *http.Request) { r.Header.Del("Idempotency-Key") }}},
	{does: "makes a new Idempotency-Key for each attempt", difficulty: "lost-response", finding: "repeated-without-key",
		client: handwritten{edit: func(r *http.Request) { r.Header.Set("Idempotency-Key", rand.Text()) }}},
	{does: "repeats at once after 429", difficulty: "too-many-requests", finding: "ignored-retry-after", client: handwritten{hasty: true}},
	{does: "repeats at once after 503", difficulty: "unavailable", finding: "ignored-retry-after", client: handwritten{hasty: true}},
	{does: "sends the key wherever a link leads", difficulty: "link-elsewhere", finding: "key-sent-elsewhere", client: handwritten{trusts: true}},
	{does: "asks for page 2", difficulty: "no-link", finding: "own-cursor", also: query("limit=10&page=2")},
	{does: "asks for the pets after an ID", difficulty: "no-link", finding: "own-cursor", also: query("after_id=20")},
	{does: "makes its own cursor", difficulty: "short-pages", finding: "own-cursor", also: query("cursor=MTA")},
	{does: "asks for animals", difficulty: "no-link", finding: "no-such-operation", also: func(c handwritten) error {
		_, err := c.call("GET", c.base+"/animals", nil, new(any))
		return err
	}},
	{does: "sends a pet in an envelope", difficulty: "extra-members", finding: "wrapped-body", also: func(c handwritten) error {
		_, err := c.call("POST", c.base+"/pets", map[string]pet{"pet": {Name: "Rex"}}, new(any))
		return err
	}},
	{does: "creates a pet again that the list does not show", difficulty: "no-link", finding: "created-again", also: func(c handwritten) error {
		_, err := c.create(pet{Name: "Rex"})
		if all, _ := c.list(); !slices.ContainsFunc(all, func(p pet) bool { return p.Name == "Rex" }) {
			_, err = c.create(pet{Name: "Rex"})
		}
		return err
	}},
	{does: "asks for a page of 500", difficulty: "no-link", finding: "refused", also: query("limit=500")},
	{does: "keeps IDs in a float64", difficulty: "ids-huge", finding: "rounded-integer", also: getFirst(func(id int64) any { return int64(float64(id)) })},
	{does: "keeps IDs in a JavaScript number", difficulty: "ids-huge", finding: "rounded-integer",
		also: getFirst(func(id int64) any { return strconv.FormatFloat(float64(id), 'f', -1, 64) })},
	{does: "keeps IDs in an int32", difficulty: "ids-huge", finding: "rounded-integer", also: getFirst(func(id int64) any { return int32(id) })},
	{does: "drops the sign of IDs", difficulty: "ids-negative", finding: "unknown-id", also: getFirst(func(id int64) any { return -id })},
	{does: "expects dense IDs", difficulty: "ids-sparse", finding: "unknown-id", also: getFirst(func(id int64) any { return id + 1 })},
	{does: "looks for the ID in an envelope", difficulty: "extra-members", finding: "no-id", also: getFirst(func(int64) any { return "undefined" })},
	{does: "uses the deprecated operation", difficulty: "no-deprecation", finding: "deprecated-operation", also: getFirst(func(id int64) any { return id })},
	{does: "sends the key in the query", difficulty: "unknown-codes", finding: "unauthorized", also: func(c handwritten) error {
		c.edit = func(r *http.Request) { r.Header.Del("Authorization") }
		return query("api_key=" + c.key)(c)
	}},
}

// query lists pets with other parameters.
func query(q string) func(handwritten) error {
	return func(c handwritten) error {
		_, err := c.call("GET", c.base+"/pets?"+q, nil, new([]pet))
		return err
	}
}

// getFirst gets the first pet of the list, by what become makes of its ID.
func getFirst(become func(id int64) any) func(handwritten) error {
	return func(c handwritten) error {
		all, err := c.list()
		if err != nil || len(all) == 0 {
			return err
		}
		_, err = c.call("GET", fmt.Sprint(c.base, "/pets/", become(all[0].ID)), nil, new(pet))
		return err
	}
}

// TestMistakes: with one of the first seeds the server finds each mistake, and it
// finds no other certain one.
func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.does, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				srv, err := petstoretest.Start(petstoretest.Difficult(seed, m.difficulty))
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				m.client.base, m.client.key = srv.URL, srv.Key
				_ = m.client.job() // an error may be part of the mistake
				if m.also != nil {
					_ = m.also(m.client)
				}
				found := false
				for _, f := range srv.Findings() {
					found = found || f.Name == m.finding
					if f.Certain && f.Name != m.finding {
						t.Errorf("another finding:\n%s", f)
					}
				}
				if found {
					return
				}
			}
			t.Errorf("%s is not found", m.finding)
		})
	}
}
