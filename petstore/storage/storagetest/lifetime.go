package storagetest

import (
	"context"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// calls returns a call of every method that the store has. That of RemoveMessages
// removes the messages.
func (f *fixture) calls(ctx context.Context, messages ...petstore.Message) map[string]func() error {
	calls := map[string]func() error{
		"GetPet":    func() error { _, err := f.GetPet(ctx, 1); return err },
		"ListPets":  func() error { _, err := f.ListPets(ctx, petstore.ListQuery{}); return err },
		"CreatePet": func() error { _, err := f.CreatePet(ctx, petstore.NewPet{}, petstore.IdempotencyKey{}); return err },
	}
	if f.Queue != nil {
		calls["SubmitMessage"] = func() error { _, err := f.SubmitMessage(ctx, "", petstore.IdempotencyKey{}); return err }
		calls["QueuedMessages"] = func() error { _, err := f.QueuedMessages(ctx, 1); return err }
		calls["RemoveMessages"] = func() error {
			var ids []string
			for _, m := range messages {
				ids = append(ids, m.ID)
			}
			return f.RemoveMessages(ctx, ids...)
		}
	}
	if f.Statistics != nil {
		calls["Stats"] = func() error { _, err := f.Stats(ctx); return err }
	}
	return calls
}

func testCancelled(t *testing.T, f *fixture) {
	f.fill(t, 3)
	var queue []petstore.Message
	if f.Queue != nil {
		queue = append(queue, f.submit(t, "stays"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range f.calls(ctx, queue...) {
		wantCode(t, what+" with a cancelled context", call(), petstore.CodeUnavailable)
	}
	f.wantPets(t, 3)
	if f.Queue != nil {
		f.wantQueue(t, queue)
	}

	// A create that is cancelled at any moment is whole or absent, and an
	// acknowledged one is there.
	acknowledged := map[int64]bool{}
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Duration(i) * time.Microsecond)
			cancel()
		}()
		p := petstore.NewPet{CategoryID: int64(i), Status: petstore.StatusSold}
		if pet, err := f.CreatePet(ctx, p, petstore.IdempotencyKey{}); err == nil {
			acknowledged[pet.ID] = true
		}
		cancel()
	}
	for _, pet := range f.list(t, petstore.ListQuery{Status: petstore.StatusSold}) {
		delete(acknowledged, pet.ID)
	}
	if len(acknowledged) > 0 {
		t.Fatalf("ListPets lacks %d of the pets that CreatePet returned", len(acknowledged))
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
	for what, call := range f.calls(t.Context()) {
		if call() == nil {
			t.Fatalf("%s after Close returned no error", what)
		}
	}
}
