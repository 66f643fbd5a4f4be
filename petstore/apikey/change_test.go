package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// TestMain makes the test binary the writer of TestWriters too: a process that adds
// and removes keys until it is killed.
func TestMain(m *testing.M) {
	path := os.Getenv("APIKEY_TEST_WRITER")
	if path == "" {
		os.Exit(m.Run())
	}
	for last := ""; ; time.Sleep(time.Millisecond) {
		_, id, err := Create(path, fmt.Sprint(os.Getpid()))
		if err == nil && last != "" {
			_, err = Revoke(path, last)
		}
		if last = id; err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(t testing.TB, path, contents string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contents(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tree returns the contents of the files in dir, by path.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		files[path] = contents(t, path)
	}
	return files
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
		t.Errorf("%s has mode %o; want %o", filepath.Base(path), got, want)
	}
}

// create adds a key to a file.
func create(t testing.TB, path, account string) (key string) {
	t.Helper()
	key, _, err := Create(path, account)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestCreateMakesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	synctest.Test(t, func(t *testing.T) { // where the time is that of makeKey
		time.Sleep(time.Millisecond) // is not in the file
		key, id, err := Create(path, "alice")
		if err != nil {
			t.Fatal(err)
		}
		keys, err := List(path)
		if err != nil || len(keys) != 1 || keys[0].ID != id || !strings.HasPrefix(key, prefix) || len(key) != len(prefix)+56 {
			t.Errorf("Create made a bad key or another than List returned: %v, %v; want %s", keys, err, id)
		}
	})
	got := contents(t, path)
	if !strings.HasPrefix(got, header) || !strings.HasSuffix(got, " alice "+created+"\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("file holds %q", got)
	}
	wantMode(t, path, 0o600)

	// A copy holds the same.
	write(t, path+".empty", "") // counts as missing
	for _, to := range []string{path + ".copy", path + ".empty"} {
		for _, want := range []error{nil, fs.ErrExist} {
			if err := Copy(to, path); !errors.Is(err, want) {
				t.Errorf("Copy: %v, want %v", err, want)
			}
		}
		wantMode(t, to, 0o600)
		if copied := contents(t, to); copied != got {
			t.Errorf("the copy holds %q, want %q", copied, got)
		}
	}
}

func TestAccounts(t *testing.T) {
	long := strings.Repeat("x", 128)
	path := filepath.Join(t.TempDir(), "x")
	for _, account := range []string{"a", "7", "ci@example.com", "A.b_c@d+e-f", long} {
		create(t, path, account)
	}
	before := contents(t, path)
	for _, account := range []string{"", " ", "a b", "a\tb", "a\nb", "a\n", "-a", "#a", ".a", "@a", "zoë", "a\x00", "a/b", "\xff", long + "x"} {
		_, _, err := Create(path, account)
		wantError(t, err, "account: must")
		if petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("error %v has code %s", err, petstore.CodeOf(err))
		}
	}
	if got := contents(t, path); got != before {
		t.Errorf("file holds %q, want %q", got, before)
	}
}

func TestChangesKeepTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	_, alice := makeKey("alice")
	_, bob := makeKey("bob")
	before := "# ours\n\n\t" + strings.TrimSuffix(alice, "\n") + "\r\n# bob left\n" + bob + "\n\n# end\n"
	write(t, path, before)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, id, err := Create(path, "carol")
	if err != nil {
		t.Fatal(err)
	}
	if k, err := Revoke(path, bob[:12]); err != nil || k.Account != "bob" {
		t.Fatalf("Revoke returned %v, %v", k, err)
	}
	if got := contents(t, path); !strings.HasPrefix(got, before+id) || !strings.HasSuffix(got, "Z\nrevoked "+bob[:12]+"\n") {
		t.Errorf("file holds %q; want it to start with %q and end with the revocation", got, before)
	}
	wantMode(t, path, 0o640)
	keys, err := List(path)
	if err != nil || len(keys) != 2 || keys[0].Account != "alice" || keys[1].ID != id {
		t.Errorf("List returned %v, %v", keys, err)
	}
}

// Files that are missing or malformed stay as they are.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.keys")
	refused := func(id string) (errs []error) {
		before := tree(t, filepath.Dir(path))
		_, opened := Open(path, nil)
		_, listed := List(path)
		_, revoked := Revoke(path, id)
		wantTree(t, filepath.Dir(path), before)
		return []error{opened, listed, revoked}
	}
	for _, err := range append(refused("0a0a0a0a0a0a"), Copy(path+".copy", path)) {
		wantError(t, err, path)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	}
	_, good := makeKey("alice")
	write(t, path, good+"\nnonsense\n")
	_, _, err := Create(path, "bob")
	for _, err := range append(refused(good[:12]), err) {
		wantError(t, err, path+": line 3: must have 3 fields")
	}

	write(t, path, "# no key\n")
	for _, id := range []string{"0a0a0a0a0a0a", "", "#"} {
		_, err := Revoke(path, id)
		wantError(t, err, path+": no key has this ID")
	}
	_, _, err = Create(filepath.Join(path, "x"), "bob")
	wantError(t, err, path, "not a directory")
	if got := contents(t, path); got != "# no key\n" {
		t.Errorf("file holds %q", got)
	}
}

func wantTree(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Processes that change a file at the same time lose no change. One that is killed
// leaves a file that can be changed.
func TestWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	var ids []string
	for range 8 {
		cmd := process.Command(t.TempDir(), os.Args[0])
		cmd.Env = append(cmd.Env, "APIKEY_TEST_WRITER="+path)
		writer, err := process.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Kill()
		account := fmt.Sprint(writer.Pid())
		for n := 0; n < 2 && writer.Running(); { // n: how often a key of the writer was seen
			_, id, err := Create(path, "here")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			keys, err := List(path)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(keys, func(k Key) bool { return k.Account == account }) {
				n++
			}
		}
		if !writer.Running() {
			t.Fatalf("the writer failed: %s", writer.Log())
		}
		writer.Kill()
	}
	keys, err := List(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range keys {
		if k.Account == "here" {
			got = append(got, k.ID)
		}
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
