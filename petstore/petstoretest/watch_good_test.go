package petstoretest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The server finds no certain mistake of a good client: of one with many
// goroutines that create equal pets, of two clients at once, of one that repeats
// nothing and goes on after an error, or of one that gives up early.
func TestGoodClients(t *testing.T) {
	ctx := t.Context()
	use := func(c *client.Client) {
		for i := range 3 {
			pet, err := c.CreatePet(ctx, petstore.NewPet{Name: fmt.Sprint("Rex ", i), CategoryID: 1<<60 + 1}, petstore.Once{})
			if err == nil {
				_, _ = c.GetPet(ctx, pet.ID)
			}
			_, _ = c.SubmitMessage(ctx, "hello", petstore.Once{})
			for range c.All(ctx, petstore.ListQuery{Limit: 20}) {
			}
		}
	}
	quick := client.Retry{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}
	for _, tt := range []struct {
		name       string
		opts       client.Options
		goroutines int
	}{
		{"one goroutine", client.Options{IdempotentServer: true, Retry: quick}, 1},
		{"16 goroutines", client.Options{IdempotentServer: true, Retry: quick}, 16},
		{"creations are not repeated", client.Options{Retry: quick}, 1},
		{"nothing is repeated", client.Options{Retry: client.Retry{Tries: 1}}, 2},
		{"gives up early", client.Options{IdempotentServer: true, Retry: quick, HTTPClient: &http.Client{Timeout: 5 * time.Millisecond}}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				srv, err := Start(Difficult(seed), Accounts(Keys{"key-2": "two"}))
				if err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				for range tt.goroutines {
					wg.Go(func() {
						for _, key := range []string{srv.Key, "key-2"} {
							c, err := client.New(srv.URL, key, &tt.opts)
							if err != nil {
								t.Error(err)
								return
							}
							use(c)
						}
					})
				}
				wg.Wait()
				srv.Close()
				for _, f := range srv.Findings() {
					if f.Certain {
						t.Errorf("seed %d: %v", seed, f)
					}
				}
			}
		})
	}
}
