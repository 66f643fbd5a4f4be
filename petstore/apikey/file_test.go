package apikey

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
)

// env is a File that is open, with a fake clock and a log.
type env struct {
	*testing.T
	path string
	file *File
	log  strings.Builder
}

// serve opens a file with those contents and calls test.
func serve(t *testing.T, contents string, test func(*env)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.keys")
	process.WriteFile(t, path, []byte(contents))
	synctest.Test(t, func(t *testing.T) {
		e := &env{T: t, path: path}
		var err error
		if e.file, err = Open(path, slog.New(slog.NewTextHandler(&e.log, nil))); err != nil {
			t.Fatal(err)
		}
		e.wantLog("key file loaded")
		test(e)
	})
}

const unknown, unchecked = string(petstore.CodeUnauthorized), string(petstore.CodeUnavailable)

// want checks the account of a key or, if it is refused, the code of the error.
func (e *env) want(key, want string) {
	e.Helper()
	got, err := e.file.Authenticate(e.Context(), key)
	if err != nil {
		got += string(petstore.CodeOf(err))
	}
	if got != want {
		e.Errorf("Authenticate returned %q, %v; want %q", got, err, want)
	}
}

// wantLog checks that one line with these parts was logged since it was last
// called, or none.
func (e *env) wantLog(parts ...string) {
	e.Helper()
	got := e.log.String()
	e.log.Reset()
	if n := strings.Count(got, "\n"); n != min(len(parts), 1) || strings.Contains(got, prefix) {
		e.Errorf("logged %d lines, or a key:\n%s", n, got)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			e.Errorf("logged %q; want %q in it", got, part)
		}
	}
}

func TestChangesWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	alice2, a2 := makeKey("alice")
	serve(t, a+a2, func(e *env) {
		e.want(alice, "alice")
		e.want(alice2, "alice")
		for _, key := range []string{"", newSecret(), alice[:len(alice)-1], alice + "a", strings.ToUpper(alice), " " + alice, a[:64]} {
			e.want(key, unknown)
		}
		e.wantLog()
		bob, _ := create(t, e.path, "bob")
		e.want(bob, "bob") // at once
		e.wantLog("level=INFO", "keys=3")
		if _, err := Revoke(e.path, a[:12]); err != nil {
			t.Fatal(err)
		}
		e.want(alice, "alice") // the file is read once a second
		time.Sleep(1001 * time.Millisecond)
		e.want(alice, unknown)
		e.want(bob, "bob")
		e.wantLog("keys=2")

		// Another file, and another time, with the same size.
		carol, c := makeKey("carol")
		dave, d := makeKey("david")
		process.WriteFile(t, e.path, []byte(c))
		e.want(carol, "carol")
		info, err := os.Stat(e.path)
		process.WriteFile(t, e.path+"2", []byte(d))
		if err := errors.Join(err, os.Chtimes(e.path+"2", time.Time{}, info.ModTime()), os.Rename(e.path+"2", e.path)); err != nil {
			t.Fatal(err)
		}
		e.want(dave, "david")
		process.WriteFile(t, e.path, []byte(c))
		if err := os.Chtimes(e.path, time.Time{}, info.ModTime().Add(-1)); err != nil {
			t.Fatal(err)
		}
		e.want(carol, "carol")
	})
}

// For two seconds after the last look that found the file good, a file that cannot be used
// changes nothing. Then no key is accepted until it can be used.
func TestUnusableWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	bob, b := makeKey("bob")
	serve(t, a, func(e *env) {
		write := func(contents string) func() error {
			return func() error { return os.WriteFile(e.path, []byte(contents), 0o600) }
		}
		for reason, destroy := range map[string]func() error{
			"no such file":              func() error { return nil },
			"is empty":                  write(""),
			"line 3: must be a SHA-256": write(b + "\nnonsense\n"),
			"line 1: must be a SHA-256": write(bob + b[64:]), // must not be logged
			"not a regular":             func() error { return os.Mkdir(e.path, 0o700) },
			"too many levels of":        func() error { return os.Symlink(e.path, e.path) },
		} {
			time.Sleep(1001 * time.Millisecond)
			e.want(alice, "alice") // the last look that finds the file good
			os.Remove(e.path)
			if err := destroy(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				time.Sleep(660 * time.Millisecond)
				e.want(alice, "alice")
				e.want(bob, unknown)
			}
			e.wantLog()
			time.Sleep(30 * time.Millisecond)
			e.want(alice, unchecked)
			e.wantLog("level=ERROR", reason, e.path)
			for range 3 {
				time.Sleep(time.Minute)
				e.want(bob, unchecked)
			}
			e.wantLog()
			os.Remove(e.path)
			process.WriteFile(t, e.path, []byte(a))
			e.want(alice, unchecked) // less than a second since the last look
			time.Sleep(1001 * time.Millisecond)
			e.want(alice, "alice")
			e.wantLog("level=INFO", "keys=1")
		}
		time.Sleep(time.Minute) // without a request, in which a key may be revoked
		os.Remove(e.path)
		e.want(alice, unchecked)
		e.wantLog("level=ERROR")
	})
}
