//go:build linux

package faulttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// sentPet is the pet that petBody creates.
func sentPet(name string) petstore.NewPet {
	return petstore.NewPet{Name: name, CategoryID: int64(len(name)), Status: petstore.StatusAvailable}
}

// TestKill kills the server at random moments while clients write. After each
// kill the file must hold what was acknowledged, once, and nothing else but
// what was sent without a response. A creation that is repeated later must not
// make a second pet. The long form runs beside no other test, so that much is
// under way at a kill.
func TestKill(t *testing.T) {
	if !*full {
		parallel(t)
	}
	n, random := rounds(4, 200)
	serverArgs(t, nil) // builds the server, which is not part of a start
	dir := t.TempDir()
	var repeat, extra []string // of the round before: pets without a response, and those of them that are there
	var last int64
	acknowledged, more, slowest := 0, 0, time.Duration(0)
	for round := range n {
		began := time.Now()
		s := start(t, dir)
		slowest = max(slowest, time.Since(began))
		c := newClients(s, last)
		for _, name := range repeat {
			r := s.Must(http.StatusCreated, "POST", "/pets", petBody(name), "Idempotency-Key", name)
			var p petstore.Pet
			if err := json.Unmarshal([]byte(r.Body), &p); err != nil || p.NewPet != sentPet(name) {
				t.Errorf("the repeated creation of %q returned %s", name, r.Body)
			}
			if there := slices.Contains(extra, name); there != (p.ID <= last) {
				t.Errorf("the repeated creation of %q returned the ID %d; it was there before: %v; the last ID was %d", name, p.ID, there, last)
			}
			if p.ID > last {
				c.acked.pets[p.ID] = name
			}
		}
		c.start(fmt.Sprint("r", round))
		if round == 0 {
			c.untilAcknowledged() // however slow the machine is
		}
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		s.Kill()
		c.wg.Wait()

		var pets int64
		extra, pets, _ = c.acked.check(t, fmt.Sprint("round ", round), s.db())
		last = pets + later
		for _, name := range extra {
			if !slices.Contains(c.unsurePets, name) && !slices.Contains(c.unsureMessages, name) {
				t.Errorf("round %d: %q is there, which had another response or was never sent", round, name)
			}
		}
		if len(c.twice) > 0 || c.other > 0 {
			t.Errorf("round %d: pets with the ID of another one %q, %d responses of another status", round, c.twice, c.other)
		}
		acknowledged += c.acked.len()
		more += len(extra)
		repeat = c.unsurePets
	}
	if *idle && slowest > time.Second {
		t.Errorf("a start took %v", slowest)
	}
	report(t, "%d kills, %d acknowledged, 0 lost, 0 twice, %d without a response are there; slowest start %v", n, acknowledged, more, slowest.Round(time.Millisecond))
}
