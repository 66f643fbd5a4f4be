//go:build linux

package faulttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// writers is how many clients write at once.
const writers = 64

// ledger is what one client sent and was told.
type ledger struct {
	pets     map[int64]string  // acknowledged: by id, the name
	messages map[string]string // acknowledged: by id, the text
	unsure   string            // the name of a pet that was sent and not answered; "": none
}

// scribble creates pets and messages, one after the other, until the server
// is gone. A pet's name is its Idempotency-Key as well.
func scribble(s *server, client *http.Client, name string) ledger {
	l := ledger{pets: map[int64]string{}, messages: map[string]string{}}
	for n := 0; ; n++ {
		what := fmt.Sprintf("%s-%d", name, n)
		if n%4 == 3 {
			a, err := s.send(client, "POST", "/messages", fmt.Sprintf(`{"message":%q}`, what))
			if err != nil {
				return l
			}
			var m petstore.Message
			if json.Unmarshal([]byte(a.body), &m) == nil && a.status == http.StatusAccepted {
				l.messages[m.ID] = what
			}
			continue
		}
		a, err := s.send(client, "POST", "/pets", petBody(what), "Idempotency-Key", what)
		if err != nil {
			l.unsure = what
			return l
		}
		var p petstore.Pet
		if json.Unmarshal([]byte(a.body), &p) == nil && a.status == http.StatusCreated {
			l.pets[p.ID] = what
		}
	}
}

func petBody(name string) string {
	return fmt.Sprintf(`{"name":%q,"categoryId":%d,"status":"available"}`, name, len(name))
}

// TestKill kills the server at random moments while many write, and looks at
// the file each time.
func TestKill(t *testing.T) {
	rounds, random := times(t, 4, 200)
	dir := t.TempDir()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
	var unsure []string // by the round before
	var last, acknowledged, extra int64
	var messages int64
	slowest := time.Duration(0)
	for round := range rounds {
		s := start(t, dir)
		slowest = max(slowest, s.took)
		for _, name := range unsure { // a client that repeats itself learns how it went
			a := s.must(http.StatusCreated, "POST", "/pets", petBody(name), "Idempotency-Key", name)
			var p petstore.Pet
			if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Name != name {
				t.Fatalf("repeating %q gave %s", name, a.body)
			}
		}
		ledgers := make([]ledger, writers)
		var wg sync.WaitGroup
		for i := range ledgers {
			wg.Go(func() { ledgers[i] = scribble(s, client, fmt.Sprintf("r%d-w%d", round, i)) })
		}
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		s.kill()
		s.wait()
		wg.Wait()
		client.CloseIdleConnections()

		b := audit(t, dir, last, ledgers, unsure)
		last = b.last
		messages += b.messages
		acknowledged += b.acknowledged
		extra += b.extra
		unsure = b.unsure
	}
	if acknowledged == 0 {
		t.Error("nothing was acknowledged")
	}
	if err := storage.Check(dir+"/petstore.db", func(err error) { t.Error(err) }); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills: %d pets and %d messages found on disk, %d acknowledged in all, %d pets on disk beside what was acknowledged, slowest start %v",
		rounds, last, messages, acknowledged, extra, slowest)
	if *full && slowest > time.Second {
		t.Errorf("a start took %v", slowest)
	}
}

// balance is what a file was found to hold.
type balance struct {
	last, messages      int64
	acknowledged, extra int64
	unsure              []string
}

// audit holds the file against what the clients were told since it ended at
// last.
func audit(t *testing.T, dir string, last int64, ledgers []ledger, before []string) balance {
	t.Helper()
	s, err := storage.Open(dir+"/petstore.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := balance{last: last}
	want := map[int64]string{}
	maybe := map[string]bool{}
	for _, name := range before {
		maybe[name] = true
	}
	texts := map[string]string{}
	for _, l := range ledgers {
		for id, name := range l.pets {
			if other, ok := want[id]; ok {
				t.Errorf("the id %d was given to %q and to %q", id, other, name)
			}
			want[id] = name
		}
		for id, text := range l.messages {
			texts[id] = text
		}
		if l.unsure != "" {
			maybe[l.unsure] = true
			b.unsure = append(b.unsure, l.unsure)
		}
	}
	b.acknowledged = int64(len(want) + len(texts))
	for q := (petstore.ListQuery{Limit: 100, After: after(last)}); ; {
		page, err := s.ListPets(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Pets {
			name, ok := want[p.ID]
			switch delete(want, p.ID); {
			case ok && p.NewPet != (petstore.NewPet{Name: name, CategoryID: int64(len(name)), Status: petstore.StatusAvailable}):
				t.Errorf("the pet %d is %+v, and was acknowledged as %q", p.ID, p.NewPet, name)
			case !ok && !maybe[p.Name]:
				t.Errorf("the pet %d, %q, is there twice, or was never sent", p.ID, p.Name)
			case !ok:
				b.extra++
			}
			delete(maybe, p.Name)
			b.last = p.ID
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	for id, name := range want {
		t.Errorf("the pet %d, %q, was acknowledged and is missing", id, name)
	}
	acknowledgedMessages := int64(len(texts))
	if b.messages = takeMessages(t, s, texts); b.messages > acknowledgedMessages+writers {
		t.Errorf("%d messages are queued, and %d were acknowledged", b.messages, acknowledgedMessages)
	}
	return b
}

func after(id int64) petstore.Cursor {
	if id == 0 {
		return ""
	}
	return petstore.CursorAfter(id)
}

// takeMessages takes all messages off the queue and holds them against those
// that were acknowledged.
func takeMessages(t *testing.T, s *storage.Store, want map[string]string) (n int64) {
	t.Helper()
	for {
		messages, err := s.QueuedMessages(t.Context(), petstore.MaxQueueLimit)
		if err != nil {
			t.Fatal(err)
		}
		if len(messages) == 0 {
			break
		}
		var ids []string
		for _, m := range messages {
			if text, ok := want[m.ID]; ok && text != m.Text {
				t.Errorf("the message %s is %q, and was acknowledged as %q", m.ID, m.Text, text)
			}
			delete(want, m.ID)
			ids = append(ids, m.ID)
			n++
		}
		if err := s.RemoveMessages(t.Context(), ids...); err != nil {
			t.Fatal(err)
		}
	}
	for id, text := range want {
		t.Errorf("the message %s, %q, was acknowledged and is missing", id, text)
	}
	return n
}
