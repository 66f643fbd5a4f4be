package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/internal/postgres"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
)

// Stores that open an empty database and create the same pets with the same keys, all
// at the same time, store each pet once, with dense IDs. They update no row: dead
// versions of it would pile up while somebody holds a snapshot, as pg_dump does.
func TestManyStores(t *testing.T) {
	const keys = 40
	url := newDatabase(t) + "&default_transaction_isolation=serializable"
	var mu sync.Mutex
	ids := map[string]int64{}
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			s, err := Open(t.Context(), url, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range keys {
				key := fmt.Sprint((i + c*7) % keys)
				pet, err := s.CreatePet(t.Context(), petstore.NewPet{Name: key}, petstore.IdempotencyKey{Key: key})
				mu.Lock()
				if err != nil || ids[key] != 0 && ids[key] != pet.ID || pet.Name != key {
					t.Errorf("%s: %+v (%v), before: %d", key, pet, err, ids[key])
				}
				ids[key] = pet.ID
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	conn := connect(t, url)
	process.Eventually(t, "the statistics", func() error { // those of a connection count when it has ended
		var inserted, updated int
		err := conn.QueryRow(t.Context(), `SELECT sum(n_tup_ins) FILTER (WHERE relname = 'pets'), sum(n_tup_upd)
			FROM pg_stat_user_tables WHERE schemaname = 'petstore'`).Scan(&inserted, &updated)
		if err == nil && inserted < keys {
			err = fmt.Errorf("%d pets", inserted)
		}
		if updated != 0 {
			t.Fatalf("%d rows were updated", updated)
		}
		return err
	})
	s := open(t, url, nil)
	for key, id := range ids {
		if pet, err := s.GetPet(t.Context(), id); err != nil || pet.Name != key || id > keys {
			t.Errorf("pet %d: %+v (%v), want %s and an ID of at most %d", id, pet, err, key, keys)
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Pets != keys {
		t.Errorf("%+v (%v), want %d pets", stats, err, keys)
	}
}

// A create whose connection is cut, at any point, is stored once and acknowledged, also
// if the connection of the next attempt is cut.
func TestCut(t *testing.T) {
	p, through := newProxy(t, newDatabase(t))
	s := open(t, through, nil)
	var names []string
	messages := int64(0)
	for _, where := range []cut{locked, unsent, unheard} {
		for times := range 3 {
			for _, key := range []string{"", "key"} {
				cutNext := func() {
					p.mu.Lock()
					defer p.mu.Unlock()
					if p.times != 0 {
						t.Errorf("%d cuts were not made", p.times)
					}
					if p.times = times; times > 0 {
						p.cut = where
					}
				}
				name := fmt.Sprint("cut ", where, times, key)
				scoped := petstore.IdempotencyKey{Scope: name, Key: key}
				cutNext()
				pet := s.mustCreate(t, name, scoped)
				if names = append(names, name); pet.ID != int64(len(names)) {
					t.Errorf("%s: pet %d, want %d", name, pet.ID, len(names))
				}
				wantPets(t, s, names...)
				if key != "" {
					cutNext()
					if again := s.mustCreate(t, name, scoped); again != pet {
						t.Errorf("%s: again %+v, want %+v", name, again, pet)
					}
				}
				cutNext()
				m, err := s.SubmitMessage(t.Context(), name, scoped)
				if messages++; err != nil || m.ID != stores.MessageID(messages) {
					t.Errorf("%+v (%v), want message %d", m, err, messages)
				}
			}
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats != (petstore.Stats{Pets: int64(len(names)), QueuedMessages: messages}) {
		t.Errorf("%+v (%v), want %d pets and %d messages", stats, err, len(names), messages)
	}
	if p.cancels != 0 {
		t.Errorf("%d requests to cancel a statement were sent", p.cancels)
	}
}

// While no standby confirms a commit, it is not acknowledged and nobody sees it,
// even if the client goes away, the connection is lost or an operator cancels the
// wait.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	server := postgres.Run(t, "fsync=off")
	url := server.URL
	p, through := newProxy(t, url)
	s, other := open(t, through+"&synchronous_commit=off", &Options{timeout: 2 * time.Second}), open(t, url, &Options{timeout: time.Second})
	standby := func(name string) {
		execute(t, url, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'", "SELECT pg_reload_conf()")
	}
	names := []string{}
	for _, tt := range []struct {
		name string
		end  func(cancel func())
	}{
		{"late", func(func()) {}},
		{"client gone", func(cancel func()) { cancel() }},
		{"wait cancelled", func(func()) {
			execute(t, url, fmt.Sprintf("SELECT pg_cancel_backend(%d)", untilWaiting(t, url, "SyncRep")))
		}},
	} {
		key := petstore.IdempotencyKey{Scope: tt.name, Key: "key"}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		standby("nobody")
		server.Kill() // a reload would take effect later
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		result := make(chan error)
		go func() {
			_, err := s.CreatePet(ctx, petstore.NewPet{Name: tt.name, Status: petstore.StatusSold}, key)
			result <- err
		}()
		untilWaiting(t, url, "SyncRep")
		tt.end(cancel)
		if err := <-result; petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.Contains(err.Error(), "this may have been stored") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.name != "wait cancelled" { // which makes PostgreSQL show it
			wantPets(t, other, names...)
		}
		// Another create waits for the lock, and fails before COMMIT is sent.
		if _, err := other.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); err == nil || !strings.Contains(err.Error(), "nothing was stored") {
			t.Errorf("%s: another create: %v", tt.name, err)
		}
		standby("")
		pet := s.mustCreate(t, tt.name, key)
		names = append(names, tt.name)
		wantPets(t, other, names...)
		if want := int64(len(names)); pet.ID != want {
			t.Errorf("%s: created again as %d, want %d", tt.name, pet.ID, want)
		}
	}
	if p.cancels != 0 {
		t.Errorf("%d requests to cancel a statement were sent", p.cancels)
	}
}
