package etcdstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A full cluster refuses creations but serves reads. After the operator has made
// space as docs/cluster.md says, it accepts creations again.
func TestQuota(t *testing.T) {
	url := freeURL()
	newCluster(t, []string{url}, "--quota-backend-bytes=8388608")
	s := open(t, etcdstore.Config{Endpoints: []string{url}})
	client := newClient(t, url)
	// What fills the space belongs to another application.
	junk := strings.Repeat("x", 1<<19)
	rex, once := petstore.NewPet{Name: "Rex", Status: petstore.StatusSold}, petstore.Once{Key: "rex"}
	first, err := s.CreatePet(t.Context(), rex, once)
	if err != nil {
		t.Fatal(err)
	}
	message, err := s.SubmitMessage(t.Context(), "feed Rex", once)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		if _, err = client.Put(t.Context(), "junk", junk); i > 100 {
			t.Fatal("the quota is never reached")
		}
	}
	// A repetition returns its known outcome, even if refused changes are in the
	// same transaction.
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			switch i % 5 {
			case 0:
				if pet, err := s.CreatePet(t.Context(), rex, once); err != nil || pet != first {
					t.Errorf("a repetition without room: %+v, %v", pet, err)
				}
			case 1:
				if m, err := s.SubmitMessage(t.Context(), "feed Rex", once); err != nil || m != message {
					t.Errorf("a repeated message without room: %+v, %v", m, err)
				}
			case 2:
				if _, err := s.CreatePet(t.Context(), petstore.NewPet{}, once); !errors.Is(err, petstore.ErrMismatch) {
					t.Errorf("another creation under a known key without room: %v", err)
				}
			case 3:
				if _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia"}, petstore.Once{Key: "k"}); petstore.CodeOf(err) != petstore.CodeFull {
					t.Errorf("creating without room: %v", err)
				}
			case 4:
				if err := s.RemoveMessages(t.Context(), message.ID); petstore.CodeOf(err) != petstore.CodeFull {
					t.Errorf("removing a message without room: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if pet, err := s.GetPet(t.Context(), first.ID); err != nil || pet != first {
		t.Errorf("reading without room: %+v, %v", pet, err)
	}
	if page, err := s.ListPets(t.Context(), petstore.ListQuery{Status: petstore.StatusSold}); err != nil || len(page.Pets) != 1 {
		t.Errorf("listing without room: %+v, %v", page, err)
	}
	other := open(t, etcdstore.Config{Endpoints: []string{url}})
	if stats, err := other.Stats(t.Context()); err != nil || stats.Pets != 1 {
		t.Errorf("opening without room: %+v, %v", stats, err)
	}

	resp, err := client.Get(t.Context(), "junk", clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Delete(t.Context(), "junk"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), resp.Header.Revision+1, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Defragment(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: "Mia"}, petstore.Once{Key: "k"})
		if err == nil {
			if pet.ID != 2 {
				t.Errorf("the next pet is %+v", pet)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("creating with room again: %v", err)
		}
	}
}

// A creation that is refused for lack of room is not stored, even if the last
// room is used while it is under way. A member carries out a transaction that it
// finds no room for, and reports an error.
func TestRoomEnds(t *testing.T) {
	url := freeURL()
	const quota = 32 << 20
	newCluster(t, []string{url}, fmt.Sprint("--quota-backend-bytes=", quota), "--backend-batch-limit=1")
	client, junk := newClient(t, url), strings.Repeat("x", 1<<20)
	put := func() {
		if _, err := client.Put(t.Context(), "junk", junk); err != nil && !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Error(err)
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
		s := open(t, etcdstore.Config{Endpoints: []string{url}, Prefix: fmt.Sprint(i, "/"), RequestTimeout: time.Minute})
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
