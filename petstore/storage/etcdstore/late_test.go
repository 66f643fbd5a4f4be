package etcdstore_test

import (
	"fmt"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/internal/etcd"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A transaction without a response can be carried out late, after the next
// attempt has found the outcome of a repeated creation and after that outcome has
// expired. Then no creation of the transaction returns the pet of another one, and
// none that may be stored is refused, also if the cluster is then full.
func TestLateAttempt(t *testing.T) {
	t.Run("room", func(t *testing.T) { testLateAttempt(t, nil) })
	t.Run("no room", func(t *testing.T) { testLateAttempt(t, rpctypes.ErrGRPCNoSpace) })
}

// testLateAttempt loses the second attempt, and carries it out before the fourth,
// which fails with full unless that is nil.
func testLateAttempt(t *testing.T, full error) {
	prefix, client := newPrefix(t), clientOf(t, endpoint)
	create(t, open(t, etcdstore.Config{Prefix: prefix}), petstore.NewPet{Name: "repeated"}, "k")

	var s *etcdstore.Store
	var calls sync.WaitGroup
	// begin begins a creation and waits until n wait for a transaction.
	begin := func(name, key string, n int) {
		calls.Go(func() {
			pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name}, petstore.Once{Key: key})
			if err == nil {
				if pet, err = s.GetPet(t.Context(), pet.ID); pet.Name != name {
					t.Errorf("the creation of %q returned the ID of %+v (%v)", name, pet, err)
				}
			} else if petstore.CodeOf(err) != petstore.CodeUnavailable {
				t.Errorf("creating %q: %v", name, err)
			}
		})
		etcd.Eventually(t, "the creation waits", func() error {
			if got := s.Waiting(); got != n {
				return fmt.Errorf("%d creations wait, want %d", got, n)
			}
			return nil
		})
	}
	attempts := 0
	var late *etcdserverpb.TxnRequest
	config := etcdstore.Config{Prefix: prefix}.Intercepted(func(_ string, req any, send func() error) error {
		if r, ok := req.(*etcdserverpb.TxnRequest); ok && len(r.Compare) > 1 { // a commit
			switch attempts++; attempts {
			case 1: // of a creation that two others wait for
				begin("repeated", "k", 1)
				begin("new", "", 2)
			case 2:
				late = r
				return status.Error(codes.Unavailable, "no response")
			case 4: // the third has lost, because the outcome exists
				_, err := client.Delete(t.Context(), prefix+"o", clientv3.WithPrefix()) // as expiry does
				if err == nil {
					_, err = etcdserverpb.NewKVClient(client.ActiveConnection()).Txn(t.Context(), late)
				}
				if err != nil {
					t.Error(err)
				}
				if full != nil {
					return full
				}
			}
		}
		return send()
	})
	s = open(t, config)
	create(t, s, petstore.NewPet{Name: "first"}, "")
	calls.Wait()
	if attempts < 4 {
		t.Errorf("there were %d attempts, want at least 4", attempts)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Pets != 4 {
		t.Errorf("%+v, %v; want 4 pets", stats, err)
	}
}

// A repetition that has returned the outcome creates nothing later, when a lost
// attempt is carried out after the outcome has expired.
func TestLateRepetition(t *testing.T) {
	prefix, client := newPrefix(t), clientOf(t, endpoint)
	commits := 0
	var late *etcdserverpb.TxnRequest
	s := open(t, etcdstore.Config{Prefix: prefix}.Intercepted(func(_ string, req any, send func() error) error {
		if r, ok := req.(*etcdserverpb.TxnRequest); ok && len(r.Compare) > 1 {
			if commits++; commits == 2 {
				late = r
				return status.Error(codes.Unavailable, "no response")
			}
		}
		return send()
	}))
	first := create(t, s, petstore.NewPet{}, "k")
	if again := create(t, s, petstore.NewPet{}, "k"); again != first {
		t.Errorf("the repetition returned %+v, want %+v", again, first)
	}
	_, err := client.Delete(t.Context(), prefix+"o", clientv3.WithPrefix()) // as expiry does
	if err == nil {
		_, err = etcdserverpb.NewKVClient(client.ActiveConnection()).Txn(t.Context(), late)
	}
	if err != nil {
		t.Fatal(err)
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != 1 {
		t.Errorf("%+v, %v; want 1 pet", stats, err)
	}
}
