package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// calls returns a call of every method that the store has, by its name. RemoveMessages is
// called with messageID.
func (f *fixture) calls(ctx context.Context, messageID string) map[string]func() error {
	calls := map[string]func() error{
		"GetPet":    func() error { _, err := f.GetPet(ctx, 1); return err },
		"ListPets":  func() error { _, err := f.ListPets(ctx, petstore.ListQuery{}); return err },
		"CreatePet": func() error { _, err := f.CreatePet(ctx, petstore.NewPet{}, noKey); return err },
	}
	if f.Queue != nil {
		calls["SubmitMessage"] = func() error { _, err := f.SubmitMessage(ctx, "", noKey); return err }
		calls["QueuedMessages"] = func() error { _, err := f.QueuedMessages(ctx, 1); return err }
		calls["RemoveMessages"] = func() error { return f.RemoveMessages(ctx, messageID) }
	}
	if f.Statistics != nil {
		calls["Stats"] = func() error { _, err := f.Stats(ctx); return err }
	}
	return calls
}

func testCancelled(t *testing.T, f *fixture) {
	pets := f.fill(t, 3)
	var m petstore.Message
	if f.Queue != nil {
		m = f.submit(t, "stays", noKey)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range f.calls(ctx, m.ID) {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s with a cancelled context: error %v, want one that wraps context.Canceled", what, err)
		}
	}
	f.wantPets(t, 0, pets)
	if f.Queue != nil {
		f.wantQueue(t, m)
	}

	// A pet that CreatePet has returned is there, even if the context ended meanwhile.
	created := map[int64]bool{}
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
		if pet, err := f.CreatePet(ctx, petstore.NewPet{Status: petstore.StatusSold}, noKey); err == nil {
			created[pet.ID] = true
		}
		cancel()
	}
	for _, pet := range f.list(t, petstore.ListQuery{Status: petstore.StatusSold}) {
		delete(created, pet.ID)
	}
	if len(created) > 0 {
		t.Fatalf("ListPets lacks %d of the pets that CreatePet returned while their contexts ended", len(created))
	}
}

func testClosed(t *testing.T, f *fixture) {
	if f.closer == nil {
		t.Skip("the store is not an io.Closer")
	}
	f.fill(t, 3)
	if err := f.closer.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	for what, call := range f.calls(t.Context(), "") {
		if call() == nil {
			t.Fatalf("%s after Close returned no error", what)
		}
	}
}
