package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/internal/test/postgrestest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
)

// Stores that open an empty database and create the same pets with the same keys, all
// at the same time, store each pet once.
func TestManyStores(t *testing.T) {
	const keys = 40
	url := newDatabase(t) + "&default_transaction_isolation=serializable"
	var ids [keys]atomic.Int64
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
				k := (i + c*7) % keys
				pet, err := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{Key: fmt.Sprint(k)})
				if before := ids[k].Swap(pet.ID); err != nil || before != 0 && before != pet.ID || pet.ID > keys {
					t.Errorf("%d: pet %d (%v), before: %d", k, pet.ID, err, before)
				}
			}
		})
	}
	wg.Wait()
}

// A create whose connection is lost, at any point of its transaction, is stored once and
// acknowledged, also if the connection of the next attempt is lost there.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	server := postgrestest.Run(t, "fsync=off")
	s := open(t, server.URL, &Options{timeout: process.Patience})
	locked := func(table string) (unlock func()) {
		exec := session(t, server.URL)
		exec("BEGIN")
		exec("LOCK " + table)
		return func() { exec("ROLLBACK") }
	}
	var names []string
	for _, tt := range []struct {
		name, event string
		hold        func() (release func())
	}{
		{"before the changes are sent", "Lock", func() func() { return locked("petstore.store") }},
		{"before COMMIT is carried out", "Lock", func() func() { return locked("petstore.commits IN SHARE MODE") }},
		{"after COMMIT is carried out", "SyncRep", func() func() {
			waitForStandby(t, server)
			return func() { waitForNone(t, server) }
		}},
	} {
		release := tt.hold()
		result := make(chan error)
		go func() {
			_, err := s.CreatePet(t.Context(), petstore.NewPet{Name: tt.name}, petstore.IdempotencyKey{})
			result <- err
		}()
		for range 2 {
			pid := untilWaiting(t, server.URL, tt.event)
			execute(t, server.URL, fmt.Sprintf("SELECT pg_terminate_backend(%d, %d)", pid, process.Patience.Milliseconds()))
		}
		release()
		if err := <-result; err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		names = append(names, tt.name)
		wantPets(t, s, names...)
	}
}

// waitForStandby makes commits wait for a standby, which there is not.
func waitForStandby(t *testing.T, server *postgrestest.Server) {
	t.Helper()
	execute(t, server.URL, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	if err := errors.Join(server.Kill(), server.Start()); err != nil { // a reload would take effect later
		t.Fatal(err)
	}
}

// waitForNone lets all commits succeed.
func waitForNone(t *testing.T, server *postgrestest.Server) {
	t.Helper()
	execute(t, server.URL, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
}

// While no standby confirms a commit, it is not acknowledged and nobody sees it,
// even if the client goes away, the connection is lost or an operator cancels the
// wait.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	server := postgrestest.Run(t, "fsync=off")
	url := server.URL
	s := open(t, url+"&synchronous_commit=off", &Options{timeout: 2 * time.Second})
	other := open(t, url, &Options{timeout: time.Second})
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
		waitForStandby(t, server)
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
		waitForNone(t, server)
		pet := s.mustCreate(t, tt.name, key)
		names = append(names, tt.name)
		wantPets(t, other, names...)
		if want := int64(len(names)); pet.ID != want {
			t.Errorf("%s: created again as %d, want %d", tt.name, pet.ID, want)
		}
	}
}

// A process that goes silent in the middle of a transaction loses the lock.
func TestSilentProcess(t *testing.T) {
	url := newDatabase(t)
	silent := open(t, url, &Options{timeout: time.Second})
	silent.use(t, func(conn *pgx.Conn) {
		if _, _, err := silent.lock(t.Context(), conn, nil, nil); err != nil {
			t.Fatal(err)
		}
		open(t, url, nil).mustCreate(t, "Rex", petstore.IdempotencyKey{})
	})
}

// A receipt is for one commit of one process, and is not trusted after its row has
// expired.
func TestReceipt(t *testing.T) {
	s, url := newStore(t)
	for range 3 {
		s.mustCreate(t, "Rex", petstore.IdempotencyKey{})
	}
	find := func(number int64) (found bool, err error) {
		s.use(t, func(conn *pgx.Conn) {
			_, found, err = s.lock(t.Context(), conn, nil, &receipt{number, newToken()})
		})
		return found, err
	}
	for _, number := range []int64{3, 4} {
		if found, err := find(number); found || err != nil {
			t.Errorf("the commit %d of another process: found %v, %v", number, found, err)
		}
	}
	execute(t, url, "DELETE FROM petstore.commits WHERE number < 3")
	if _, err := find(2); err == nil {
		t.Error("an expired commit is reported as not carried out")
	}
}

// A connection to an earlier primary is not used. The timeline of the primary is looked up
// again and again.
func TestOldPrimary(t *testing.T) {
	s, _ := newStore(t)
	s.mustCreate(t, "Rex", petstore.IdempotencyKey{})
	timeline := s.timeline.Swap(1 << 31) // as if another host had a newer one
	_, get := s.GetPet(t.Context(), 1)
	_, create := s.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
	for what, err := range map[string]error{"GetPet": get, "CreatePet": create} {
		if petstore.CodeOf(err) != petstore.CodeUnavailable || !strings.Contains(err.Error(), errOldPrimary.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.timeline.Store(0)
	process.Eventually(t, "the timeline", func() error {
		if got := s.timeline.Load(); got != timeline {
			return fmt.Errorf("%d, want %d", got, timeline)
		}
		return nil
	})
	wantPets(t, s, "Rex")
}

// A warning that has nothing to do with a commit does no harm, nor does a primary that
// becomes read-only.
func TestSession(t *testing.T) {
	s, _ := newStore(t)
	for _, sql := range []string{"DO $$ BEGIN RAISE WARNING 'unrelated'; END $$", "SET default_transaction_read_only = on"} {
		s.use(t, func(conn *pgx.Conn) {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		})
		s.mustCreate(t, sql, petstore.IdempotencyKey{})
	}
}

// A full queue refuses a change.
func TestBusy(t *testing.T) {
	s := &Store{queue: make(chan *change)}
	if err := s.enqueue(&change{}); err != errBusy {
		t.Error(err)
	}
}
