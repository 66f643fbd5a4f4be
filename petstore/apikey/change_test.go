package apikey

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
)

// wantFile checks what a file holds, and that only the user can read it.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if diff := cmp.Diff(want, string(process.ReadFile(t, path))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(path), diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// create adds a key to a file.
func create(t *testing.T, path, account string) (secret, id string) {
	t.Helper()
	secret, key, err := Create(path, account)
	if keys, e := List(path); err != nil || e != nil || !slices.Contains(keys, key) {
		t.Fatalf("Create returned %+v, %v; the file has %+v (%v)", key, err, keys, e)
	}
	return secret, key.ID
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
	var alice, bob string
	synctest.Test(t, func(t *testing.T) { // where the time is that of makeKey
		time.Sleep(time.Millisecond) // is not in the file
		_, alice = create(t, path, "alice")
		_, bob = create(t, path, "bob")
	})
	wantKeys(t, path, "alice", "bob")
	got := string(process.ReadFile(t, path))
	if lines := strings.Split(got, "\n"); !strings.HasPrefix(lines[0], alice) || !strings.HasSuffix(lines[0], " alice "+created) || !strings.HasPrefix(lines[1], bob) {
		t.Errorf("the file holds %q", got)
	}
}

func TestAccounts(t *testing.T) {
	long := strings.Repeat("x", 128)
	path := filepath.Join(t.TempDir(), "x")
	good := []string{"a", "7", "ci@example.com", "A.b_c@d+e-f", long}
	for _, account := range good {
		create(t, path, account)
	}
	for _, account := range []string{"", " ", "a b", "a\tb", "a\nb", "a\n", "-a", "#a", ".a", "@a", "zoë", "a\x00", "a/b", "\xff", long + "x"} {
		if _, _, err := Create(path, account); petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("account %q: %v", account, err)
		}
	}
	wantKeys(t, path, good...)
}

// Changes keep the comments, and what others have added.
func TestRevoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	_, alice := makeKey("alice")
	_, bob := makeKey("bob")
	before := "# ours\n\n\t" + strings.TrimSuffix(alice, "\n") + "\r\n# bob left\n" + bob + "\n\n# end\n"
	process.WriteFile(t, path, []byte(before))
	if k, err := Revoke(path, bob[:12]); err != nil || k.Account != "bob" {
		t.Errorf("Revoke returned %v, %v", k, err)
	}
	wantFile(t, path, before+"revoked "+bob[:12]+"\n")
	wantKeys(t, path, "alice")
	for _, id := range []string{bob[:12], "0a0a0a0a0a0a", "", "#"} {
		if _, err := Revoke(path, id); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), path) {
			t.Errorf("Revoke of %q returned %v", id, err)
		}
	}
}

// Files that are missing or malformed stay as they are.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.keys")
	_, good := makeKey("alice")
	refused := func(parts ...string) {
		t.Helper()
		_, err := Open(path, nil)
		wantError(t, err, parts...)
		_, err = List(path)
		wantError(t, err, parts...)
		_, err = Revoke(path, good[:12])
		wantError(t, err, parts...)
	}
	refused(path, "no such file")
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
	process.WriteFile(t, path, []byte(good+"\nnonsense\n"))
	refused(path + ": line 3: must be a SHA-256")
	_, _, err := Create(path, "bob")
	wantError(t, err, path+": line 3: must be a SHA-256")
	_, _, err = Create(filepath.Join(path, "x"), "bob")
	wantError(t, err, path, "not a directory")
	wantFile(t, path, good+"\nnonsense\n")
}

// Callers that change a file at the same time lose no change. A call may find a line that is
// half written.
func TestConcurrentChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	add := func(account string) (key Key) {
		err := errors.New("not tried")
		for err != nil {
			_, key, err = Create(path, account)
		}
		return key
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				key := add("revoked")
				for _, err := Revoke(path, key.ID); err != nil; {
					_, err = Revoke(path, key.ID)
				}
			}
			add("kept")
		})
	}
	wg.Wait()
	wantKeys(t, path, slices.Repeat([]string{"kept"}, 8)...)
}
