package storagetest

import (
	"fmt"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

func testOnce(t *testing.T, f *fixture) {
	rex := petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold}
	once := petstore.Once{Scope: "anna", Key: "key"}
	first, err := f.CreatePet(t.Context(), rex, once)
	if err != nil {
		t.Fatal(err)
	}
	message, err := f.SubmitMessage(t.Context(), "hello", once)
	if err != nil {
		t.Fatalf("one key serves a pet and a message: %v", err)
	}

	repeat := func() {
		t.Helper()
		again, err := f.CreatePet(t.Context(), rex, once)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "the pet created again", first, again)
		f.clock.advance(time.Minute)
		sent, err := f.SubmitMessage(t.Context(), "hello", once)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "the message submitted again", message, sent)
	}
	repeat()
	for _, p := range []petstore.NewPet{
		{Name: "rex", CategoryID: 1, Status: petstore.StatusSold},
		{Name: "Rex", CategoryID: 2, Status: petstore.StatusSold},
		{Name: "Rex", CategoryID: 1},
	} {
		_, err := f.CreatePet(t.Context(), p, once)
		wantCode(t, "another pet with the same key", err, petstore.CodeMismatch)
	}
	_, err = f.SubmitMessage(t.Context(), "hello ", once)
	wantCode(t, "another message with the same key", err, petstore.CodeMismatch)

	for _, other := range []petstore.Once{
		{},
		{},
		{Scope: "anna"},
		{Scope: "bert", Key: "key"},
		{Scope: "anna", Key: "KEY"},
		{Scope: "annak", Key: "ey"},
		{Key: "key"},
	} {
		if pet, err := f.CreatePet(t.Context(), rex, other); err != nil || pet.ID == first.ID {
			t.Errorf("CreatePet with %+v gave %v, %v; want a new pet", other, pet, err)
		}
	}
	f.wantPets(t, 8)

	if err := f.RemoveMessages(t.Context(), message.ID); err != nil {
		t.Fatal(err)
	}
	repeat() // of a message that has been taken off the queue meanwhile
	wantQueue(t, f, nil)
	f.reopen(t)
	repeat()
	wantQueue(t, f, nil)
	f.wantPets(t, 8)
}

func testOnceConcurrent(t *testing.T, f *fixture) {
	const callers = 16
	for round := range 5 {
		once := petstore.Once{Scope: "s", Key: fmt.Sprint("round ", round)}
		pets := make(chan petstore.Pet, callers)
		messages := make(chan petstore.Message, callers)
		for range callers {
			go func() {
				pet, err := f.CreatePet(t.Context(), petstore.NewPet{Name: once.Key}, once)
				if err != nil {
					t.Error(err)
				}
				pets <- pet
				message, err := f.SubmitMessage(t.Context(), once.Key, once)
				if err != nil {
					t.Error(err)
				}
				messages <- message
			}()
		}
		pet, message := <-pets, <-messages
		for range callers - 1 {
			wantEqual(t, "the same creation, at the same time", pet, <-pets)
			wantEqual(t, "the same message, at the same time", message, <-messages)
		}
		f.wantPets(t, round+1)
	}
}

func testOnceExpires(t *testing.T, f *fixture) {
	const n = 20
	create := func(i int) int64 {
		t.Helper()
		once := petstore.Once{Key: fmt.Sprint(i)}
		pet, err := f.CreatePet(t.Context(), petstore.NewPet{CategoryID: int64(i)}, once)
		if err != nil {
			t.Fatal(err)
		}
		return pet.ID
	}
	ids := map[int]int64{}
	for i := range n {
		ids[i] = create(i)
		f.clock.advance(time.Second)
	}
	f.clock.advance(petstore.OnceKept - n*time.Second) // the age of the first, to the nanosecond
	for i := range n {
		if got := create(i); got != ids[i] {
			t.Errorf("a creation within %v gave the pet %d, want %d again", petstore.OnceKept, got, ids[i])
		}
	}
	f.clock.advance(n * time.Second)
	for i := range n {
		if got := create(i); got <= n {
			t.Errorf("a creation after more than %v gave the pet %d again", petstore.OnceKept, got)
		} else if create(i) != got {
			t.Errorf("the new creation is not remembered")
		}
	}
	f.wantPets(t, 2*n)
}
