package etcdstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A full cluster refuses creations but serves reads, and repetitions of creations
// whose outcome is known. Expired outcomes are deleted, so that the steps in
// docs/cluster.md make room.
func TestQuota(t *testing.T) {
	url := newCluster(t, "--quota-backend-bytes=8388608")
	s := open(t, etcdstore.Config{Endpoints: []string{url}})
	brief := open(t, etcdstore.Config{Endpoints: []string{url}, Prefix: "brief/"}.KeptFor(10*time.Second))
	createWithKeys(t, brief, "brief", 500)
	rex, once := petstore.NewPet{Name: "Rex", Status: petstore.StatusSold}, petstore.Once{Key: "rex"}
	first := create(t, s, rex, once.Key)
	message, err := s.SubmitMessage(t.Context(), "feed Rex", once)
	if err != nil {
		t.Fatal(err)
	}
	// What fills the space belongs to another application.
	client, junk := clientOf(t, url), strings.Repeat("x", 1<<19)
	etcd.Eventually(t, "the quota is reached", func() error { // a busy member may not respond in time
		if _, err := client.Put(t.Context(), "junk", junk); !errors.Is(err, rpctypes.ErrNoSpace) {
			return fmt.Errorf("the last put: %v", err)
		}
		return nil
	})
	// A repetition returns its known outcome, even if refused changes are in the
	// same transaction.
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if pet, err := s.CreatePet(t.Context(), rex, once); err != nil || pet != first {
				t.Errorf("a repetition without room: %+v, %v", pet, err)
			}
		})
		wg.Go(func() {
			if m, err := s.SubmitMessage(t.Context(), "feed Rex", once); err != nil || m != message {
				t.Errorf("a repeated message without room: %+v, %v", m, err)
			}
		})
		wg.Go(func() {
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, once); !errors.Is(err, petstore.ErrMismatch) {
				t.Errorf("another creation under a known key without room: %v", err)
			}
		})
		wg.Go(func() {
			if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia"}, petstore.Once{Key: "k"}); petstore.CodeOf(err) != petstore.CodeFull {
				t.Errorf("creating without room: %v", err)
			}
		})
		wg.Go(func() {
			if err := s.RemoveMessages(t.Context(), message.ID); petstore.CodeOf(err) != petstore.CodeFull {
				t.Errorf("removing a message without room: %v", err)
			}
		})
	}
	wg.Wait()
	other := open(t, etcdstore.Config{Endpoints: []string{url}})
	if page, err := other.ListPets(t.Context(), petstore.ListQuery{Status: petstore.StatusSold}); err != nil || len(page.Pets) != 1 {
		t.Errorf("listing without room: %+v, %v", page, err)
	}
	// This process has no lease, and cannot get one now.
	if _, err := other.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{Key: "k"}); petstore.CodeOf(err) != petstore.CodeFull {
		t.Errorf("creating without room: %v", err)
	}
	expireUntil(t, client, brief, "brief/", 0)
	if n := count(t, client, "brief/l") + count(t, client, "brief/w"); n > 0 {
		t.Errorf("%d other records are left", n)
	}
}

// A creation that is refused for lack of room is not stored, even if the last
// room is used while it is under way. A member carries out a transaction that it
// finds no room for, and reports an error.
func TestRoomEnds(t *testing.T) {
	const quota = 32 << 20
	url := newCluster(t, fmt.Sprint("--quota-backend-bytes=", quota), "--backend-batch-limit=1")
	client, junk := clientOf(t, url), strings.Repeat("x", 1<<20)
	put := func() {
		err := errors.New("not yet sent")
		for err != nil && !errors.Is(err, rpctypes.ErrNoSpace) { // a busy member may not respond in time
			_, err = client.Put(context.Background(), "junk", junk)
		}
	}
	for size := int64(0); size < quota-4<<20 && !t.Failed(); {
		put()
		status, err := client.Status(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		size = status.DbSize
	}
	var wg sync.WaitGroup
	for i := range 8 {
		s := open(t, etcdstore.Config{Endpoints: []string{url}, Prefix: fmt.Sprint(i, "/")})
		wg.Go(func() {
			for made := int64(0); ; made++ {
				_, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.Once{})
				if err == nil {
					continue
				}
				stats, statsErr := s.Stats(t.Context())
				if petstore.CodeOf(err) != petstore.CodeFull || statsErr != nil || stats.Pets != made {
					t.Errorf("%d pets are stored (%v), %d were acknowledged, and then: %v", stats.Pets, statsErr, made, err)
				}
				return
			}
		})
	}
	for range 32 {
		wg.Go(put) // each finds room when it arrives
	}
	wg.Wait()
}
