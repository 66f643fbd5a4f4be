package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// A create that is cancelled while another process commits is not stored, and the
// creates that queue up meanwhile share a transaction, also with the same key.
func TestLocked(t *testing.T) {
	url := newDatabase(t)
	s := open(t, url, nil)
	other := session(t, url)
	other("BEGIN")
	other("SELECT FROM petstore.store FOR UPDATE")
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error)
	go func() {
		_, err := s.CreatePet(ctx, petstore.NewPet{Name: "cancelled"}, petstore.IdempotencyKey{})
		cancelled <- err
	}()
	untilWaiting(t, url, "Lock")
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var wg sync.WaitGroup
	var pets [2]petstore.Pet
	for i := range pets {
		wg.Go(func() {
			var err error
			if pets[i], err = s.CreatePet(t.Context(), petstore.NewPet{Name: "Rex"}, petstore.IdempotencyKey{Key: "k"}); err != nil {
				t.Error(err)
			}
		})
	}
	process.Eventually(t, "both creates are queued", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.queue) < len(pets) {
			return errors.New("not yet")
		}
		return nil
	})
	other("ROLLBACK")
	wg.Wait()
	if pets[0].ID != 1 || pets[1] != pets[0] {
		t.Errorf("%+v, want the same pet with the ID 1", pets)
	}
	wantPets(t, s, "Rex")
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
	url := newDatabase(t)
	s := open(t, url, nil)
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

// A connection to an earlier primary is not used, and what it has committed is not
// confirmed. The timeline of the primary is looked up again and again.
func TestOldPrimary(t *testing.T) {
	s := open(t, newDatabase(t), &Options{timeout: time.Second})
	s.mustCreate(t, "Rex", petstore.IdempotencyKey{})
	timeline := s.timeline.Load()
	s.use(t, func(conn *pgx.Conn) {
		before := s.confirmed(conn)
		s.timeline.Store(timeline + 1) // as if another host had said so
		if after := s.confirmed(conn); before != nil || !errors.Is(after, errOldPrimary) {
			t.Errorf("a commit before and after a failover: %v, %v", before, after)
		}
	})
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
	s := open(t, newDatabase(t), nil)
	for _, sql := range []string{"DO $$ BEGIN RAISE WARNING 'unrelated'; END $$", "SET default_transaction_read_only = on"} {
		s.use(t, func(conn *pgx.Conn) {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		})
		s.mustCreate(t, sql, petstore.IdempotencyKey{})
	}
}

// A change that had an error in an attempt that failed has none in the next one.
func TestApply(t *testing.T) {
	u, text := &update{}, "text"
	c := &change{message: &text, err: petstore.ErrQueueFull}
	if u.apply(c, 1); c.err != nil || c.number != 1 {
		t.Errorf("%+v", c)
	}
}

// The queue is bounded.
func TestQueueBounds(t *testing.T) {
	s := &Store{timeout: time.Minute}
	s.filled.L = &s.mu
	for range maxWaiting {
		if err := s.enqueue(&change{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.enqueue(&change{}); err != errBusy {
		t.Errorf("one too many: %v", err)
	}
	s.leave(s.queue[7], true)
	for n := 0; n < maxWaiting-1; {
		batch := s.take()
		if n += len(batch); len(batch) == 0 || len(batch) > maxBatch {
			t.Fatalf("a batch of %d", len(batch))
		}
	}
}
