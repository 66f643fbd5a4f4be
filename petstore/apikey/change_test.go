package apikey

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
)

// create adds a key to a file.
func create(t *testing.T, path, account string) (secret string, key Key) {
	t.Helper()
	secret, key, err := Create(path, account)
	if err != nil {
		t.Fatal(err)
	}
	return secret, key
}

// wantKeys checks the accounts in a file.
func wantKeys(t *testing.T, path string, want ...string) {
	t.Helper()
	keys, err := List(path)
	var got []string
	for _, k := range keys {
		got = append(got, k.Account)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the keys are of %q, %v; want %q", got, err, want)
	}
}

// Create makes a file, and adds to it.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	good := []string{"a", "7", "ci@example.com", "A.b_c@d+e-f", strings.Repeat("x", 128)}
	var keys []Key
	synctest.Test(t, func(t *testing.T) { // where the time is that of makeKey
		time.Sleep(time.Millisecond) // is not in the file
		for _, account := range good {
			_, key := create(t, path, account)
			keys = append(keys, key)
		}
	})
	if got, err := List(path); err != nil || !slices.Equal(got, keys) {
		t.Errorf("the keys are %+v, %v; want %+v", got, err, keys)
	}
	for _, account := range []string{"", " ", "a b", "a\tb", "a\nb", "a\n", "-a", "#a", ".a", "@a", "zoë", "a\x00", "a/b", "\xff", good[4] + "x"} {
		if _, _, err := Create(path, account); petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("account %q: %v", account, err)
		}
	}
	wantKeys(t, path, good...)
}

// Changes keep the comments, and what others have added, and end the last line.
func TestRevoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	_, alice := makeKey("alice")
	_, bob := makeKey("bob")
	before := "# ours\n\n\t" + strings.TrimSuffix(alice, "\n") + "\r\n# bob left\n" + bob + "\n\n# end"
	process.WriteFile(t, path, []byte(before))
	if k, err := Revoke(path, bob[:12]); err != nil || k.Account != "bob" {
		t.Errorf("Revoke returned %v, %v", k, err)
	}
	if got, want := string(process.ReadFile(t, path)), before+"\nrevoked "+bob[:12]+"\n"; got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	wantKeys(t, path, "alice")
	for _, id := range []string{bob[:12], "0a0a0a0a0a0a", "", "#"} {
		_, err := Revoke(path, id)
		wantError(t, err, path+": no key has this ID")
	}
}

// Callers that change a file at the same time lose no change, and each new key is accepted at
// once, also when the working directory has changed.
func TestConcurrentChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	create(t, path, "first")
	t.Chdir(filepath.Dir(path))
	file, err := Open("test.keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			for _, account := range []string{"kept", "revoked"} {
				secret, key, err := Create(path, account)
				if err == nil {
					_, err = file.Authenticate(t.Context(), secret)
				}
				if err == nil && account == "revoked" {
					_, err = Revoke(path, key.ID)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantKeys(t, path, append([]string{"first"}, slices.Repeat([]string{"kept"}, 60)...)...)
}
