package etcdstore_test

import (
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// A transaction without a response can be carried out late, after the next
// attempt has found the outcome of a repeated creation and after that outcome has
// expired. Then no creation of the transaction returns the pet of another one, and
// none that may be stored is refused. A repetition that has returned the outcome
// creates nothing later.
func TestLateAttempt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other bool  // another creation is in the same transaction
		late  int   // the lost attempt is carried out before the one with this number
		full  error // of that attempt; nil: it is sent
		pets  int64
	}{
		{"before the next attempt", true, 4, nil, 4},
		{"before the cluster is full", true, 4, rpctypes.ErrGRPCNoSpace, 4},
		{"at the end", false, 5, nil, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prefix, client := newPrefix(t), clientOf(t, endpoint)
			create(t, open(t, etcdstore.Config{Prefix: prefix}), petstore.NewPet{Name: "repeated"}, "k")

			var s *etcdstore.Store
			var calls sync.WaitGroup
			// begin begins a creation and waits until n wait for a transaction.
			begin := func(name, key string, n int) {
				calls.Go(func() {
					pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name}, petstore.Once{Key: key})
					stored, _ := s.GetPet(t.Context(), pet.ID)
					if stored != pet || err != nil && petstore.CodeOf(err) != petstore.CodeUnavailable {
						t.Errorf("creating %q: %+v, %v; stored is %+v", name, pet, err, stored)
					}
				})
				for s.Waiting() != n {
					time.Sleep(time.Millisecond)
				}
			}
			attempts := 0
			var lost *etcdserverpb.TxnRequest
			carryOut := func() {
				_, errDelete := client.Delete(t.Context(), prefix+"o", clientv3.WithPrefix()) // as expiry does
				_, err := etcdserverpb.NewKVClient(client.ActiveConnection()).Txn(t.Context(), lost)
				if errDelete != nil || err != nil {
					t.Error(errDelete, err)
				}
			}
			s = open(t, etcdstore.Config{Prefix: prefix}.Intercepted(func(_ string, req any, send func() error) error {
				if r, ok := req.(*etcdserverpb.TxnRequest); ok && len(r.Compare) > 1 { // a commit
					switch attempts++; attempts {
					case 1: // of a creation that others wait for
						begin("repeated", "k", 1)
						if tt.other {
							begin("new", "", 2)
						}
					case 2:
						lost = r
						return status.Error(codes.Unavailable, "no response")
					case tt.late: // the third has lost, because the outcome exists
						if carryOut(); tt.full != nil {
							return tt.full
						}
					}
				}
				return send()
			}))
			create(t, s, petstore.NewPet{Name: "first"}, "")
			calls.Wait()
			if attempts < tt.late {
				carryOut()
			}
			if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != tt.pets || attempts < 4 {
				t.Errorf("%+v, %v after %d attempts; want %d pets after at least 4", stats, err, attempts, tt.pets)
			}
		})
	}
}
