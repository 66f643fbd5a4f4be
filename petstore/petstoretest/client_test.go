package petstoretest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/storage/memory"
)

// TestClient: package client handles all difficulties. The store has each of its
// pets once, and the server finds no mistake.
func TestClient(t *testing.T) {
	var seeds sync.WaitGroup // all at once, because most of the time they wait
	for seed := range uint64(100) {
		seeds.Go(func() {
			store := memory.New(nil)
			s, err := Start(Difficult(seed), Store(store))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := useAll(t.Context(), s); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if n, err := store.Stats(t.Context()); n != (petstore.Stats{Pets: 20, QueuedMessages: 5}) || err != nil {
				t.Errorf("seed %d: the store has %+v, %v", seed, n, err)
			}
			for _, f := range s.Findings() {
				if f.Certain {
					t.Errorf("seed %d: %s", seed, f)
				}
			}
		})
	}
	seeds.Wait()
}

// useAll calls every method of the client.
func useAll(ctx context.Context, s *Server) error {
	created := map[int64]petstore.Pet{}
	for i := range 20 {
		n := petstore.NewPet{Name: fmt.Sprintf("Rex\u2028 %d/\"%d\" 🦊", 99-i, i), CategoryID: 1<<62 + int64(i), Status: append(petstore.Statuses(), "")[i%4]}
		pet, err := s.Client.CreatePet(ctx, n, petstore.Once{})
		if err != nil {
			return err
		}
		if pet.NewPet != n {
			return fmt.Errorf("created %+v, want %+v", pet, n)
		}
		created[pet.ID] = pet
		if got, err := s.Client.GetPet(ctx, pet.ID); err != nil || got != pet {
			return fmt.Errorf("got %+v (%v), want %+v", got, err, pet)
		}
	}
	if _, err := s.Client.CreatePet(ctx, petstore.NewPet{Name: "Mia", CategoryID: 1, Status: "lost"}, petstore.Once{}); petstore.CodeOf(err) != petstore.CodeInvalid {
		return fmt.Errorf("an invalid pet: %v", err)
	}
	if _, err := s.Client.GetPet(ctx, 77); petstore.CodeOf(err) != petstore.CodeNotFound {
		return fmt.Errorf("a pet that is not there: %v", err)
	}
	whole, err := client.New(s.URL, s.Key, &client.Options{WholeLists: true})
	if err != nil {
		return err
	}
	for _, limit := range []int{7, 100} {
		listed := map[int64]petstore.Pet{}
		for pet, err := range whole.All(ctx, petstore.ListQuery{Limit: limit}) {
			if errors.Is(err, client.ErrIncomplete) && limit == 7 {
				listed = created // the server has no further pages
				break
			}
			if err != nil {
				return err
			}
			if _, twice := listed[pet.ID]; twice {
				return fmt.Errorf("listed twice: %+v", pet)
			}
			listed[pet.ID] = pet
		}
		if diff := cmp.Diff(created, listed); diff != "" {
			return fmt.Errorf("listed with limit %d (-want +got):\n%s", limit, diff)
		}
	}
	messages := map[string]bool{}
	for i := range 5 {
		text := fmt.Sprint("hello ", i)
		m, err := s.Client.SubmitMessage(ctx, text, petstore.Once{})
		if err != nil || m.Text != text || messages[m.ID] {
			return fmt.Errorf("submitted %q, got %+v, %v", text, m, err)
		}
		messages[m.ID] = true
	}
	return nil
}
