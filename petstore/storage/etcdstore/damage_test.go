package etcdstore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
	"example.com/animalstore/petstore/storage/memory"
)

// contents calls all methods of a store that read, and returns the results. Those
// that find damage have the result "damaged".
func contents(t *testing.T, what string, s *etcdstore.Store) (all []string) {
	t.Helper()
	note := func(v any, err error) {
		switch {
		case petstore.CodeOf(err) == petstore.CodeNotFound:
			v = "none"
		case errors.Is(err, etcdstore.ErrDamaged):
			v = "damaged"
		case err != nil:
			t.Errorf("%s: %v", what, err)
		}
		all = append(all, fmt.Sprint(v))
	}
	for _, status := range statuses {
		for _, after := range []int64{0, 120, 250} {
			page, err := s.ListPets(t.Context(), query(status, after, 100))
			note(page, err)
		}
	}
	for _, id := range []int64{1, 129, 300, 301} {
		pet, err := s.GetPet(t.Context(), id)
		note(pet, err)
	}
	stats, err := s.Stats(t.Context())
	note(stats, err)
	queue, err := s.QueuedMessages(t.Context(), 10)
	note(queue, err)
	return all
}

// Damage in any record leads to an error or has no effect. No read returns
// anything other than before.
func TestDamage(t *testing.T) {
	prefix := newPrefix(t)
	s := open(t, etcdstore.Config{Prefix: prefix})
	oracle := memory.New(nil)
	fill(t, s, oracle, 150, petstore.StatusSold) // more than a block of the index
	fill(t, s, oracle, 150, statuses...)
	for _, text := range []string{"one", strings.Repeat("long", 20_000), "three"} {
		if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	want := contents(t, "before", s)
	s.Close()
	if slices.Contains(want, "damaged") {
		t.Fatal("the store is damaged from the beginning")
	}
	client := clientOf(t, endpoint)
	resp, err := client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, kv := range resp.Kvs {
		letter := kv.Key[len(prefix)]
		if letter == 'p' && i%40 != 0 {
			continue // there are many of them
		}
		key, value := string(kv.Key), string(kv.Value)
		for what, op := range map[string]clientv3.Op{
			"missing":        clientv3.OpDelete(key),
			"empty":          clientv3.OpPut(key, ""),
			"bit flipped":    clientv3.OpPut(key, flip(value, len(value)/2)),
			"first flipped":  clientv3.OpPut(key, flip(value, 0)),
			"cut":            clientv3.OpPut(key, value[:len(value)-1]),
			"another record": clientv3.OpPut(key, string(resp.Kvs[(i+1)%len(resp.Kvs)].Value)),
		} {
			if _, err := client.Do(t.Context(), op); err != nil {
				t.Fatal(err)
			}
			what = fmt.Sprintf("%q %s", key[len(prefix):], what)
			s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{endpoint}, Prefix: prefix})
			if err != nil {
				found++
				continue
			}
			for i, got := range contents(t, what, s) {
				if got == "damaged" {
					found++
				} else if got != want[i] {
					t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want[i], got))
				}
			}
			s.Close()
		}
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d reads found damage", found)
}

// flip changes a bit of a byte.
func flip(s string, at int) string { return s[:at] + string([]byte{s[at] ^ 1}) + s[at+1:] }
