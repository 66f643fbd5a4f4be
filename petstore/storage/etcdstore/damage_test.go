package etcdstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/etcdstore"
)

// contents calls all methods of a store that read.
func contents(ctx context.Context, s *etcdstore.Store) (all []string, errs []error) {
	note := func(what string, v any, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
			v = "error"
		}
		all = append(all, fmt.Sprint(what, " ", v))
	}
	for _, status := range append(petstore.Statuses(), "") {
		for _, after := range []int64{0, 120, 250} {
			q := petstore.ListQuery{Limit: 100, Status: status}
			if after > 0 {
				q.After = petstore.CursorAfter(after)
			}
			page, err := s.ListPets(ctx, q)
			note(fmt.Sprint("list ", q), page, err)
		}
	}
	for _, id := range []int64{1, 129, 300, 301} {
		pet, err := s.GetPet(ctx, id)
		if petstore.CodeOf(err) == petstore.CodeNotFound {
			note(fmt.Sprint("get ", id), "none", nil)
			continue
		}
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
	for _, text := range []string{"one", string(bytes.Repeat([]byte("long"), 20_000)), "three"} {
		if _, err := s.SubmitMessage(t.Context(), text, petstore.Once{}); err != nil {
			t.Fatal(err)
		}
	}
	want, errs := contents(t.Context(), s)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.Close()
	client := newClient(t, endpoint)
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
		other := resp.Kvs[(i+1)%len(resp.Kvs)].Value
		for what, value := range map[string][]byte{
			"missing":        nil,
			"empty":          {},
			"bit flipped":    flip(kv.Value, len(kv.Value)/2),
			"first flipped":  flip(kv.Value, 0),
			"cut":            kv.Value[:len(kv.Value)-1],
			"another record": other,
		} {
			if what == "missing" {
				_, err = client.Delete(t.Context(), string(kv.Key))
			} else {
				_, err = client.Put(t.Context(), string(kv.Key), string(value))
			}
			if err != nil {
				t.Fatal(err)
			}
			found += judge(t, fmt.Sprintf("%q %s", kv.Key[len(prefix):], what), prefix, want)
		}
		if _, err := client.Put(t.Context(), string(kv.Key), string(kv.Value)); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d cases of damage led to an error", found)
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

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
		if want[i] != got[i] && !bytes.HasSuffix([]byte(got[i]), []byte(" error")) {
			t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want[i], got[i]))
		}
	}
	return min(len(errs), 1)
}
