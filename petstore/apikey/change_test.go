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
		_, id, err := Create(path, fmt.Sprint(os.Getpid()), 0)
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

// tree returns the names of the files in dir, and the contents of regular ones.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		files[path] = d.Type().String()
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
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

func TestCreateMakesFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Create(filepath.Join(dir, "missing", "test.keys"), "alice", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create in a folder that does not exist: %v", err)
	}
	path := filepath.Join(dir, "test.keys")
	synctest.Test(t, func(t *testing.T) { // where the time is that of makeKey
		time.Sleep(time.Millisecond) // is not in the file
		key, id, err := Create(path, "alice", 90*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := List(path)
		if err != nil || len(keys) != 1 || keys[0].ID != id || !strings.HasPrefix(key, prefix) {
			t.Errorf("Create made a bad key or another than List returned: %v, %v; want %s", keys, err, id)
		}
	})
	got := tree(t, dir)[path]
	if !strings.HasPrefix(got, header) || !strings.HasSuffix(got, " alice "+created+" 2000-01-01T01:30:00Z\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("file holds %q", got)
	}
	wantMode(t, path, 0o600)

	// A copy holds the same.
	for _, want := range []error{nil, fs.ErrExist} {
		if err := Copy(path+".copy", path); !errors.Is(err, want) {
			t.Errorf("Copy: %v, want %v", err, want)
		}
	}
	wantMode(t, path+".copy", 0o600)
	if copied := tree(t, dir)[path+".copy"]; copied != got {
		t.Errorf("the copy holds %q, want %q", copied, got)
	}
	write(t, path+".empty", "") // counts as missing
	if err := Copy(path+".empty", path); err != nil || tree(t, dir)[path+".empty"] != got {
		t.Errorf("Copy to an empty file: %v, %v", err, tree(t, dir))
	}
}

func TestCreateArguments(t *testing.T) {
	long := strings.Repeat("x", 128)
	for _, account := range []string{"a", "7", "alice", "ci@example.com", "A.b_c@d+e-f", long} {
		if _, _, err := Create(filepath.Join(t.TempDir(), "x"), account, time.Second); err != nil {
			t.Errorf("account %q: %v", account, err)
		}
	}
	dir := t.TempDir()
	bad := func(account string, lifetime time.Duration, want string) {
		_, _, err := Create(filepath.Join(dir, "a", "x"), account, lifetime)
		wantError(t, err, want)
		if petstore.CodeOf(err) != petstore.CodeInvalid {
			t.Errorf("error %v has code %s", err, petstore.CodeOf(err))
		}
	}
	for _, account := range []string{"", " ", "a b", "a\tb", "a\nb", "a\n", "-a", "#a", ".a", "@a", "zoë", "a\x00", "a/b", "a\u00a0b", "\xff", long + "x"} {
		bad(account, 0, "account: must")
	}
	for _, lifetime := range []time.Duration{-time.Hour, -1, 1, time.Second - 1} {
		bad("alice", lifetime, "expires: must")
	}
	if files := tree(t, dir); len(files) != 1 {
		t.Errorf("bad arguments made %v", files)
	}
}

func TestChangesKeepTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	_, alice := makeKey("alice", forever)
	_, bob := makeKey("bob", minute)
	before := "# ours\n\n\t" + strings.TrimSuffix(alice, "\n") + "\r\n# bob left\n" + bob + "\n\n# end\n"
	write(t, path, before)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	_, id, err := Create(path, "carol", 0)
	if err != nil {
		t.Fatal(err)
	}
	if k, err := Revoke(path, bob[:12]); err != nil || k.Account != "bob" {
		t.Fatalf("Revoke returned %v, %v", k, err)
	}
	if got := tree(t, path)[path]; !strings.HasPrefix(got, before+id) || !strings.HasSuffix(got, " never\nrevoked "+bob[:12]+"\n") {
		t.Errorf("file holds %q; want it to start with %q and end with the revocation", got, before)
	}
	wantMode(t, path, 0o640)
	keys, err := List(path)
	if err != nil || len(keys) != 2 || keys[0].Account != "alice" || keys[1].ID != id {
		t.Errorf("List returned %v, %v", keys, err)
	}
	write(t, path, alice)
	if _, err := Revoke(path, alice[:12]); err != nil {
		t.Fatal(err)
	}
	if keys, err := List(path); err != nil || len(keys) != 0 {
		t.Errorf("after Revoke of the only line, List returned %v, %v", keys, err)
	}
}

// A malformed file stays as it is.
func TestMalformedFile(t *testing.T) {
	_, good := makeKey("alice", forever)
	path := filepath.Join(t.TempDir(), "my.keys")
	write(t, path, good+"\nnonsense\n")
	before := tree(t, filepath.Dir(path))
	_, opened := Open(path, nil)
	_, listed := List(path)
	_, revoked := Revoke(path, good[:12])
	_, _, created := Create(path, "bob", 0)
	for _, err := range []error{opened, listed, revoked, created} {
		wantError(t, err, path+": line 3: must have 4 fields")
	}
	wantTree(t, filepath.Dir(path), before)
}

func wantTree(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "my.keys")
	before := tree(t, dir)
	_, opened := Open(path, nil)
	_, listed := List(path)
	_, revoked := Revoke(path, "0a0a0a0a0a0a")
	for _, err := range []error{opened, listed, revoked} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
		wantError(t, err, path)
	}
	wantTree(t, dir, before)

	write(t, path, "# no key\n")
	for _, id := range []string{"0a0a0a0a0a0a", "", "#"} {
		_, err := Revoke(path, id)
		if !errors.Is(err, ErrNoKey) {
			t.Errorf("Revoke of ID %q: %v", id, err)
		}
		wantError(t, err, path+": no key has this ID")
	}
	_, _, err := Create(filepath.Join(path, "x"), "bob", 0)
	wantError(t, err, path, "not a directory")
	if got := tree(t, dir)[path]; got != "# no key\n" {
		t.Errorf("file holds %q", got)
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
			_, id, err := Create(path, "here", 0)
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
