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

	"example.com/animalstore/internal/process"
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
		for _, key := range []string{"", newKey(), alice[:len(alice)-1], alice + "a", strings.ToUpper(alice), " " + alice, a[:64]} {
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

func TestBadFileWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	bob, b := makeKey("bob")
	serve(t, a, func(e *env) {
		for contents, reason := range map[string]string{
			"":                 "is empty",
			b[:40]:             "half written",
			b + "\nnonsense\n": "line 3: must be a SHA-256",
			bob + b[64:]:       "line 1: must be a SHA-256", // must not be logged
			"missing":          "no such file",
		} {
			process.WriteFile(t, e.path, []byte(contents))
			if contents == "missing" {
				os.Remove(e.path)
			}
			for _, parts := range [][]string{{"level=ERROR", reason, e.path}, nil} { // it is logged once
				time.Sleep(2 * time.Second)
				e.want(alice, "alice")
				e.want(bob, "")
				e.wantLog(parts...)
			}
			process.WriteFile(t, e.path, []byte(a))
			time.Sleep(2 * time.Second)
			e.want(alice, "alice")
			e.wantLog("level=INFO", "keys=1")
		}
	})
}
