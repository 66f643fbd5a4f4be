package petstore_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage/storagetest"
)

// AppendJSON loses no member.
func TestAppendJSONMembers(t *testing.T) {
	want, err := json.Marshal(storagetest.SamplePet())
	if err != nil {
		t.Fatal(err)
	}
	got, err := storagetest.SamplePet().AppendJSON(nil)
	if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// FuzzAppendJSON compares AppendJSON with the JSON package.
func FuzzAppendJSON(f *testing.F) {
	f.Add(int64(1), "Rex", int64(4), "available")
	f.Add(int64(-1), "", int64(0), "")
	f.Add(int64(1<<53+1), "\x00\"\\/<&>\u2028 🐈", int64(-1<<63), "sold")
	f.Add(int64(7), "\xff", int64(1), "pending")
	f.Add(int64(7), "Mia", int64(1), "unknown")
	f.Add(int64(7), "ok\xed\xa0\x80", int64(1), "") // a surrogate
	f.Fuzz(func(t *testing.T, id int64, name string, category int64, status string) {
		if len(name) > petstore.MaxTextBytes {
			t.Skip("AppendJSON has no limit")
		}
		pet := petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: name, CategoryID: category, Status: petstore.Status(status)}}
		got, err := pet.AppendJSON([]byte("before"))
		if invalid := pet.Validate(); invalid != nil {
			if petstore.CodeOf(err) != petstore.CodeInternal || string(got) != "before" {
				t.Fatalf("AppendJSON(%+v) returned %q, %v; want %v", pet, got, err, invalid)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(pet)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("before"+string(want), string(got)); diff != "" {
			t.Errorf("AppendJSON and Marshal differ (-want +got):\n%s", diff)
		}
		var back petstore.Pet
		if err := json.Unmarshal(want, &back); err != nil || back != pet {
			t.Errorf("%s is read back as %+v (%v), want %+v", want, back, err, pet)
		}
	})
}

// The time of a message is in UTC, to the millisecond, for any zone.
func TestMessageTime(t *testing.T) {
	b, err := json.Marshal(petstore.Message{CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 120e6, time.FixedZone("", 3600))})
	if want := `{"id":"","message":"","status":"","createdAt":"2026-01-02T02:04:05.120Z"}`; string(b) != want || err != nil {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}
