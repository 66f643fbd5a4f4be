package apikey

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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
		test(e)
	})
}

// want checks the account of a key; "" means that the key is refused.
func (e *env) want(key, account string) {
	e.Helper()
	got, err := e.file.Authenticate(e.Context(), key)
	if refused := petstore.CodeOf(err) == petstore.CodeUnauthorized; got != account || refused != (account == "") {
		e.Errorf("Authenticate returned %q, %v; want %q", got, err, account)
	}
}

// wantUnchecked checks that a key cannot be checked.
func (e *env) wantUnchecked(key string) {
	e.Helper()
	if _, err := e.file.Authenticate(e.Context(), key); petstore.CodeOf(err) != petstore.CodeUnavailable {
		e.Errorf("Authenticate returned %v", err)
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

func TestAuthenticate(t *testing.T) {
	alice, a := makeKey("alice")
	alice2, a2 := makeKey("alice")
	bob, b := makeKey("bob")
	serve(t, a+a2+b, func(e *env) {
		e.want(alice, "alice")
		e.want(alice2, "alice")
		e.want(bob, "bob")
		for _, key := range []string{"", newSecret(), alice[:len(alice)-1], alice + "a", strings.ToUpper(alice), " " + alice, a[:64]} {
			e.want(key, "")
		}
		e.wantLog()
	})
}

func TestChangesWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	serve(t, a, func(e *env) {
		bob, _ := create(t, e.path, "bob")
		e.want(bob, "bob") // at once
		e.wantLog("level=INFO", "key file loaded", "keys=2")
		if _, err := Revoke(e.path, a[:12]); err != nil {
			t.Fatal(err)
		}
		e.want(alice, "alice") // the file is read once a second
		time.Sleep(1001 * time.Millisecond)
		e.want(alice, "")
		e.want(bob, "bob")
		e.wantLog("keys=1")
	})
}

// A new key is accepted at once, also while other calls read the file.
func TestNewKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.keys")
	create(t, path, "alice")
	file, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done.Store(true)
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				_, _ = file.Authenticate(t.Context(), "unknown")
			}
		})
	}
	for range 50 {
		key, _ := create(t, path, "bob")
		if _, err := file.Authenticate(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that cannot be used lets nobody in after two seconds, until it can be, and is logged
// once.
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
			"is not a regular":          func() error { return os.Mkdir(e.path, 0o700) },
			"too many levels of":        func() error { return os.Symlink(e.path, e.path) },
		} {
			os.Remove(e.path)
			if err := destroy(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1001 * time.Millisecond) // since the last look
			e.want(alice, "alice")
			e.wantUnchecked(bob)
			e.wantLog("level=ERROR", reason, e.path)
			time.Sleep(900 * time.Millisecond)
			e.want(alice, "alice")
			time.Sleep(200 * time.Millisecond) // more than two seconds since the keys were found
			for range 3 {
				time.Sleep(time.Minute)
				e.wantUnchecked(alice)
			}
			e.wantLog()
			os.Remove(e.path)
			process.WriteFile(t, e.path, []byte(a))
			e.wantUnchecked(bob) // less than a second since the last look
			time.Sleep(1001 * time.Millisecond)
			e.want(alice, "alice")
			e.want(bob, "")
			e.wantLog("level=INFO", "keys=1")
		}
		time.Sleep(time.Minute) // without a request, in which a key may be revoked
		os.Remove(e.path)
		e.wantUnchecked(alice)
		e.wantLog("level=ERROR")
	})
}

// A file is read only if it has changed, or may have changed within the second in which it was
// read.
func TestLook(t *testing.T) {
	_, a := makeKey("alice")
	bob, b := makeKey("bobby")
	serve(t, a, func(e *env) {
		for age, account := range map[time.Duration]string{time.Hour: "", time.Second: "bobby", -time.Hour: ""} {
			touch := func(contents string) {
				process.WriteFile(t, e.path, []byte(contents))
				if err := os.Chtimes(e.path, time.Time{}, time.Now().Add(-age)); err != nil {
					t.Fatal(err)
				}
			}
			touch(a)
			e.want(newSecret(), "")
			touch(b) // which has the same size and time
			time.Sleep(1001 * time.Millisecond)
			e.want(bob, account)
			e.log.Reset()
		}
	})
}
