package apikey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("APIKEY_TEST_WRITER"); path != "" {
		os.Exit(writer(path))
	}
	os.Exit(m.Run())
}

// writer is another process that adds keys, ten or as many as it can before
// it is killed, and takes every second one away again.
func writer(path string) int {
	n := 10
	if os.Getenv("APIKEY_TEST_FOREVER") != "" {
		n = 1 << 30
	}
	for i := range n {
		_, k, err := New(fmt.Sprintf("p%d", os.Getpid()), time.Now(), time.Time{})
		if err == nil {
			err = inTurn(func() error { return Add(path, k) })
		}
		if err == nil && i%2 == 1 {
			err = inTurn(func() error { _, err := Revoke(path, k.ID); return err })
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// inTurn makes a change where others make some as well: on a busy machine its
// turn may not come within what a change waits.
func inTurn(change func() error) (err error) {
	for range 20 {
		if err = change(); err == nil || !strings.Contains(err.Error(), "another process") {
			break
		}
	}
	return err
}

func startWriter(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "APIKEY_TEST_WRITER="+path), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func mustList(t *testing.T, path string) []Key {
	t.Helper()
	keys, err := List(path)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Mode().Perm()
}

func TestAddMakesFileAndDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "newer")
	path := filepath.Join(dir, "test.keys")
	_, k := newKey(t, "alice")
	if err := Add(path, k); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Key{k}, mustList(t, path)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	data, _ := os.ReadFile(path)
	if want := header + "\n" + k.line() + "\n"; string(data) != want {
		t.Errorf("file is %q; want %q", data, want)
	}
	if runtime.GOOS != "windows" {
		if f, d := mode(t, path), mode(t, dir); f != 0o600 || d != 0o700 {
			t.Errorf("modes are %o for the file and %o for its directory", f, d)
		}
	}
}

func TestChangesLeaveTheRestAlone(t *testing.T) {
	_, a := newKey(t, "alice")
	_, b := newKey(t, "bob")
	_, c := newKey(t, "carol")
	path := filepath.Join(t.TempDir(), "test.keys")
	before := "# ours\n\n\t" + a.line() + "\r\n# bob left\n" + b.line() + "\n\n# end\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Add(path, c); err != nil {
		t.Fatal(err)
	}
	if got, err := Revoke(path, b.ID); err != nil || got != b {
		t.Fatalf("Revoke gave %v, %v", got, err)
	}
	want := strings.Replace(before, b.line()+"\n", "", 1) + c.line() + "\n"
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("file (-want +got):\n%s", cmp.Diff(want, string(got)))
	}
	if runtime.GOOS != "windows" && mode(t, path) != 0o640 {
		t.Errorf("mode is now %o", mode(t, path))
	}
}

func TestChangeErrors(t *testing.T) {
	_, a := newKey(t, "alice")
	_, b := newKey(t, "bob")
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	if err := Add(good, a); err != nil {
		t.Fatal(err)
	}
	malformed := "# x\nnonsense\n"
	if err := os.WriteFile(bad, []byte(malformed), 0o600); err != nil {
		t.Fatal(err)
	}
	sameID := b
	sameID.ID = a.ID
	nobody := b
	nobody.Account = "no body"
	before, _ := os.ReadFile(good)

	revoke := func(path, id string) error { _, err := Revoke(path, id); return err }
	tests := []struct {
		name, want string
		err        error
	}{
		{"the same key", "is there already", Add(good, a)},
		{"the same id", "is there already", Add(good, sameID)},
		{"a bad key", "account: must", Add(good, nobody)},
		{"add to a malformed file", "bad: line 2: has 1 fields", Add(bad, b)},
		{"revoke in a malformed file", "bad: line 2: has 1 fields", revoke(bad, a.ID)},
		{"revoke an unknown id", "good: no key has this id", revoke(good, b.ID)},
		{"revoke without a file", "no such file", revoke(filepath.Join(dir, "absent"), a.ID)},
		{"a file for a directory", "not a directory", Add(filepath.Join(good, "x"), b)},
		{"a directory for a file", "not a regular file", Add(dir, b)},
	}
	for _, tt := range tests {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: error %v; want one with %q", tt.name, tt.err, tt.want)
		}
	}
	if err := revoke(good, "x"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Revoke of an unknown id: %v does not wrap ErrNoKey", err)
	}
	if after, _ := os.ReadFile(good); string(after) != string(before) {
		t.Errorf("a change that failed left %q", after)
	}
	if after, _ := os.ReadFile(bad); string(after) != malformed {
		t.Errorf("the malformed file is now %q", after)
	}
	if _, err := os.Stat(filepath.Join(dir, "absent")); err == nil {
		t.Error("Revoke made a file")
	}
}

// Add and Revoke refuse a symbolic link, since the owner of its directory could
// make root change a file elsewhere. List follows one.
func TestChangesFollowNoLink(t *testing.T) {
	_, a := newKey(t, "alice")
	_, b := newKey(t, "bob")
	revoke := func(path string) error { _, err := Revoke(path, a.ID); return err }
	add := func(path string) error { return Add(path, b) }
	tests := []struct {
		name   string
		link   string // name of the link: of the key file or of one beside it
		target string
		change func(path string) error
		want   string // part of the error; "": none
	}{
		{"add to another key file", "app.keys", "other.keys", add, "is a symbolic link"},
		{"revoke in another key file", "app.keys", "other.keys", revoke, "is a symbolic link"},
		{"add to another file", "app.keys", "passwd", add, "is a symbolic link"},
		{"add to a missing file", "app.keys", "absent", add, "is a symbolic link"},
		{"add to a folder", "app.keys", "", add, "is a symbolic link"},
		{"the lock is a link", "app.keys.lock", "absent", add, "app.keys.lock"},
		{"the lock is a link to a file", "app.keys.lock", "passwd", add, "app.keys.lock"},
		{"the new file is a link", "app.keys.tmp", "passwd", add, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			service, etc := t.TempDir(), t.TempDir()
			path := filepath.Join(service, "app.keys")
			files := map[string]string{"other.keys": header + "\n" + a.line() + "\n", "passwd": "root:x:0:0\n"}
			for name, data := range files {
				if err := os.WriteFile(filepath.Join(etc, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.link != "app.keys" {
				if err := os.WriteFile(path, []byte(files["other.keys"]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(service, tt.link)
			if err := os.Symlink(filepath.Join(etc, tt.target), link); err != nil {
				t.Skip(err)
			}
			if os.Geteuid() == 0 { // root changes a file in the service's directory
				for _, p := range []string{service, link} {
					if err := os.Lchown(p, 12345, 23456); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := tt.change(path)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
			entries, _ := os.ReadDir(etc)
			if len(entries) != len(files) {
				t.Errorf("the other directory now holds %v", entries)
			}
			for name, want := range files {
				if got, _ := os.ReadFile(filepath.Join(etc, name)); string(got) != want {
					t.Errorf("%s is now %q", name, got)
				}
			}
			if tt.target == "other.keys" {
				if diff := cmp.Diff([]Key{a}, mustList(t, path)); diff != "" {
					t.Errorf("List through the link (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWritersTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	cmds := make([]*exec.Cmd, 4)
	for i := range cmds {
		cmds[i] = startWriter(t, path)
	}
	for range 10 {
		_, k := newKey(t, "here")
		if err := inTurn(func() error { return Add(path, k) }); err != nil {
			t.Error(err)
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got, want := len(mustList(t, path)), 10+5*len(cmds); got != want {
		t.Errorf("%d keys are left of %d", got, want)
	}
}

func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	_, first := newKey(t, "first")
	if err := Add(path, first); err != nil {
		t.Fatal(err)
	}
	for i := range 15 {
		cmd := startWriter(t, path, "APIKEY_TEST_FOREVER=1")
		time.Sleep(time.Duration(20+7*i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if keys := mustList(t, path); len(keys) == 0 || keys[0] != first {
			t.Fatalf("kill %d left %v", i, keys)
		}
		_, k := newKey(t, "after")
		if err := Add(path, k); err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
	}
}
