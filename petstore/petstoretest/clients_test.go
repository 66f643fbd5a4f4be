package petstoretest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/petstoretest"
)

// add adds 30 pets, gets each and as many that are unknown, submits messages and lists all.
func add(c *client.Client) error {
	ctx := context.Background()
	for i := range 30 {
		p := petstore.NewPet{Name: fmt.Sprint(i, ` {"id":{"code":"`), CategoryID: 1<<62 + int64(i)}
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
		if m, err := c.SubmitMessage(ctx, p.Name, petstore.IdempotencyKey{}); err != nil || m.Text != p.Name {
			return fmt.Errorf("submitted %q, got %+v (%v)", p.Name, m, err)
		}
	}
	pets, names := 0, map[string]bool{}
	for pet, err := range c.All(ctx, petstore.ListQuery{Limit: 7}) {
		if err != nil {
			return err
		}
		pets++
		names[pet.Name] = true
	}
	if pets != 30 || len(names) != 30 {
		return fmt.Errorf("%d pets with %d names were added, want 30", pets, len(names))
	}
	return nil
}

// transport changes the requests and the responses of a client.
type transport struct {
	http.Transport
	request  func(*http.Request)
	response func(*http.Response)
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.request != nil {
		r = r.Clone(r.Context())
		t.request(r)
	}
	resp, err := t.Transport.RoundTrip(r)
	if err == nil && t.response != nil {
		t.response(resp)
	}
	return resp, err
}

// The server finds no mistake of package client, which adds each pet once, repeats what failed
// and reads all pages. With some seeds it finds that of each wrong client, and no other.
func TestClients(t *testing.T) {
	for _, tt := range []struct {
		does, finding string
		transport     *transport
	}{
		{"is right", "", &transport{}},
		{"creates without Idempotency-Key, and repeats", "repeated-without-key", &transport{request: func(r *http.Request) { r.Header.Del("Idempotency-Key") }}},
		{"repeats at once after 429 and 503", "ignored-retry-after", &transport{response: func(resp *http.Response) { resp.Header.Del("Retry-After") }}},
		{"keeps IDs in a JavaScript number", "rounded-id", &transport{request: func(r *http.Request) {
			if id, ok := strings.CutPrefix(r.URL.Path, "/v1/pets/"); ok {
				n, _ := strconv.ParseFloat(id, 64)
				r.URL.Path = "/v1/pets/" + strconv.FormatFloat(n, 'f', -1, 64)
			}
		}}},
	} {
		found := false
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				h := petstoretest.NewHandler(&petstoretest.Options{Difficult: true, Seed: seed})
				network := make(testserver.Pipes)
				srv := &http.Server{Handler: h}
				go srv.Serve(network)
				defer srv.Close()
				tt.transport.DialContext = network.Dial
				defer tt.transport.CloseIdleConnections()
				c, _ := client.New("http://pets.test/v1", petstoretest.Key, &client.Options{
					HTTPClient: &http.Client{Transport: tt.transport}, RetryWrites: true, MinBackoff: 5 * time.Millisecond,
				})
				err := add(c)
				s := h.Summary()
				for _, f := range s.Findings {
					if found = true; f.Name != tt.finding {
						t.Errorf("seed %d: another finding:\n%s", seed, f)
					}
				}
				if tt.finding == "" && (err != nil || s.Failures < 10 || s.Repeated != s.Failures || s.Links != 4 || s.Followed != s.Links || s.Refused != 30 || s.Requests != s.Failures+s.Refused+s.Succeeded) {
					t.Errorf("seed %d: %v\n%s", seed, err, s)
				}
			})
		}
		if tt.finding != "" && !found {
			t.Errorf("the server does not find that a client %s", tt.does)
		}
	}
}
