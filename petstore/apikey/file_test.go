package apikey

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
)

// env is a File that is open, with a fake clock.
type env struct {
	*testing.T
	path string
	file *File

	mu  sync.Mutex
	log strings.Builder
}

// Write adds to the log.
func (e *env) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.Write(p)
}

// serve opens a file with those contents and calls test.
func serve(t *testing.T, contents string, test func(*env)) {
	t.Helper()
	e := &env{path: filepath.Join(t.TempDir(), "test.keys")}
	write(t, e.path, contents)
	synctest.Test(t, func(t *testing.T) {
		e.T = t
		f, err := Open(e.path, slog.New(slog.NewTextHandler(e, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		e.file = f
		test(e)
	})
}

func (e *env) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// load replaces the contents of the file and waits until the promised time for
// loading a change is over.
func (e *env) load(contents string) {
	_ = os.Remove(e.path)
	write(e, e.path, contents)
	e.sleep(2 * time.Second)
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
	e.mu.Lock()
	defer e.mu.Unlock()
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
	// Keys with the same ID differ in the rest of the hash.
	last := "00"
	if strings.HasSuffix(a[:64], last) {
		last = "01"
	}
	serve(t, a[:62]+last+a[64:], func(e *env) { e.want(alice, "") })
}

func TestChangesWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	serve(t, a, func(e *env) {
		bob := create(e, e.path, "bob")
		e.want(alice, "alice")
		e.want(bob, "bob") // at once
		e.wantLog("level=INFO", "key file loaded", "keys=2")
		carol := create(e, e.path, "carol")
		e.want(carol, "") // the file is read ten times a second at most
		e.sleep(100 * time.Millisecond)
		e.want(carol, "carol")
		e.wantLog("keys=3")

		// A revocation takes effect while other keys are added all the time.
		if _, err := Revoke(e.path, a[:12]); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			create(e, e.path, "dora")
			e.sleep(350 * time.Millisecond)
		}
		e.want(alice, "")
		e.want(bob, "bob")
		e.sleep(2 * time.Second)
		e.log.Reset()
		e.sleep(2 * time.Second)
		e.wantLog()

		e.file.Close()
		e.load(a)
		e.want(bob, "bob")
		if err := e.file.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestBadFileWhileServing(t *testing.T) {
	alice, a := makeKey("alice")
	bob, b := makeKey("bob")
	serve(t, a, func(e *env) {
		// stays checks that the keys loaded before stay in force, and that the
		// reason is logged once. Then it mends the file.
		stays := func(reason string) {
			e.Helper()
			e.sleep(2 * time.Second)
			e.want(alice, "alice")
			e.want(bob, "")
			e.wantLog("level=ERROR", reason, e.path)
			e.sleep(2 * time.Second)
			e.wantLog()
			e.load(a + "\n")
			e.want(alice, "alice")
			e.wantLog("level=INFO", "keys=1")
			e.load(a)
			e.wantLog("level=INFO", "keys=1")
		}
		for contents, reason := range map[string]string{
			"":                 "is empty",
			b[:40]:             "half written",
			b + "\nnonsense\n": "line 3: must have 3 fields",
			bob + b[64:]:       "line 1: SHA-256", // must not be logged
		} {
			e.load(contents)
			stays(reason)
		}
		os.Remove(e.path)
		stays("no such file")
		os.Remove(e.path)
		os.Mkdir(e.path, 0o700)
		stays("is a directory")
		e.load(b)
		e.want(alice, "")
		e.want(bob, "bob")
	})
}
