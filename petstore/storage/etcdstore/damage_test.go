package etcdstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// contents calls all methods of a store that read. It returns the results, "error"
// for each error, and the errors.
func contents(ctx context.Context, s *etcdstore.Store) (all []string, errs []error) {
	note := func(what string, v any, err error) {
		if petstore.CodeOf(err) == petstore.CodeNotFound {
			v, err = "none", nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
			v = "error"
		}
		all = append(all, fmt.Sprint(v))
	}
	for _, status := range append(petstore.Statuses(), "") {
		for _, after := range []int64{0, 120, 250} {
			page, err := s.ListPets(ctx, query(status, after, 100))
			note(fmt.Sprint("list ", status, after), page, err)
		}
	}
	for _, id := range []int64{1, 129, 300, 301} {
		pet, err := s.GetPet(ctx, id)
		note(fmt.Sprint("get ", id), pet, err)
	}
	stats, err := s.Stats(ctx)
	note("stats", stats, err)
	queue, err := s.QueuedMessages(ctx, 10)
	note("queue", queue, err)
	return all, errs
}

// Damage in any record leads to an error or has no effect. No read returns
// anything other than before.
func TestDamage(t *testing.T) {
	prefix := newPrefix(t)
	s := open(t, etcdstore.Config{Prefix: prefix})
	fill(t, s, 300)
	for _, text := range []string{"one", strings.Repeat("long", 20_000), "three"} {
		if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	want, errs := contents(t.Context(), s)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.Close()
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
			found += judge(t, fmt.Sprintf("%q %s", key[len(prefix):], what), prefix, want)
		}
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d cases of damage led to an error", found)
}

// flip changes a bit of a byte.
func flip(s string, at int) string { return s[:at] + string([]byte{s[at] ^ 1}) + s[at+1:] }

// judge compares what a damaged store returns with what it returned before. It
// returns 1 if there was an error, otherwise 0.
func judge(t *testing.T, what, prefix string, want []string) int {
	t.Helper()
	s, err := etcdstore.Open(t.Context(), etcdstore.Config{Endpoints: []string{endpoint}, Prefix: prefix})
	if err != nil {
		return 1
	}
	defer s.Close()
	got, errs := contents(t.Context(), s)
	for _, err := range errs {
		if !errors.Is(err, etcdstore.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range want {
		if want[i] != got[i] && got[i] != "error" {
			t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want[i], got[i]))
		}
	}
	return min(len(errs), 1)
}
