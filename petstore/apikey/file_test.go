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

// logged returns what was logged since it was last called.
func (e *env) logged() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.log.Reset()
	return e.log.String()
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

// wait waits until the promised time for loading a change is over.
func (e *env) wait() { e.sleep(2 * time.Second) }

func (e *env) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// want checks the account of a key; "" means that the key is refused.
func (e *env) want(key, account string) {
	e.Helper()
	got, err := e.file.Authenticate(e.Context(), key)
	if refused := petstore.CodeOf(err) == petstore.CodeUnauthorized; got != account || refused != (account == "") {
		e.Errorf("Authenticate returned %q, %v; want %q", got, err, account)
	}
}

// wantLog checks that one line with these parts was logged, or none.
func (e *env) wantLog(parts ...string) {
	e.Helper()
	got := e.logged()
	if n := strings.Count(got, "\n"); n != min(len(parts), 1) {
		e.Errorf("logged %d lines:\n%s", n, got)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			e.Errorf("logged %q; want %q in it", got, part)
		}
	}
	if strings.Contains(got, prefix) {
		e.Errorf("logged a key: %s", got)
	}
}

func TestAuthenticate(t *testing.T) {
	alice, a := makeKey("alice", forever)
	alice2, a2 := makeKey("alice", forever)
	bob, b := makeKey("bob", forever)
	serve(t, a+a2+b, func(e *env) {
		e.want(alice, "alice")
		e.want(alice2, "alice")
		e.want(bob, "bob")
		for _, key := range []string{"", newKey(), alice[:len(alice)-1], alice + "a", strings.ToUpper(alice), " " + alice, a[:64], strings.Repeat("x", 1<<20)} {
			e.want(key, "")
		}
		e.wait()
		e.wantLog()
		for _, key := range []string{alice, newKey()} {
			if n := testing.AllocsPerRun(100, func() { e.file.Authenticate(e.Context(), key) }); n != 0 {
				e.Errorf("Authenticate allocated %v times", n)
			}
		}
	})
}

// Keys with the same ID differ in the rest of the hash.
func TestAuthenticateComparesWholeHash(t *testing.T) {
	alice, a := makeKey("alice", forever)
	serve(t, a[:62]+"00"+a[64:], func(e *env) {
		if !strings.HasSuffix(a[:64], "00") {
			e.want(alice, "")
		}
	})
}

func TestExpiry(t *testing.T) {
	key, line := makeKey("alice", minute)
	_, other := makeKey("bob", forever)
	serve(t, line+other, func(e *env) {
		keys, err := List(e.path)
		if err != nil {
			t.Fatal(err)
		}
		want := func(account string) {
			e.Helper()
			e.want(key, account)
			if got := keys[0].Expired(time.Now()); got != (account == "") {
				e.Errorf("at %v Expired returned %v", time.Now(), got)
			}
		}
		want("alice")
		e.sleep(time.Minute - 1)
		want("alice")
		e.sleep(1)
		want("")
		e.sleep(time.Minute)
		want("")
		e.wantLog()
	})
}

func TestChangesWhileServing(t *testing.T) {
	alice, a := makeKey("alice", forever)
	serve(t, a, func(e *env) {
		bob, _, err := Create(e.path, "bob", 0)
		if err != nil {
			t.Fatal(err)
		}
		e.sleep(500 * time.Millisecond)
		e.want(bob, "") // the file may be half written
		e.wait()
		e.want(alice, "alice")
		e.want(bob, "bob")
		e.wantLog("level=INFO", "key file loaded", "keys=2")

		if _, err := Revoke(e.path, a[:12]); err != nil {
			t.Fatal(err)
		}
		e.wait()
		e.want(alice, "")
		e.want(bob, "bob")
		e.wantLog("keys=1")

		if err := os.Chtimes(e.path, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		e.wait()
		e.wantLog()

		e.file.Close()
		write(t, e.path, a)
		e.wait()
		e.want(bob, "bob")
		if err := e.file.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestBadFileWhileServing(t *testing.T) {
	alice, a := makeKey("alice", forever)
	bob, b := makeKey("bob", forever)
	contents := func(s string) func(*env) { return func(e *env) { write(e, e.path, s) } }
	for _, tt := range []struct {
		name string
		do   func(*env)
		want string
	}{
		{"empty", contents(""), "half written"},
		{"cut in a line", contents(a + b[:40]), "line 2: must end in a newline"},
		{"cut before the newline", contents(a + strings.TrimSuffix(b, "\n")), "line 2: must end in a newline"},
		{"malformed", contents(b + "\nnonsense\n"), "line 3: must have 4 fields"},
		{"key for its hash", contents(bob + b[64:]), "line 1: SHA-256"},
		{"gone", func(e *env) { os.Remove(e.path) }, "no such file"},
		{"directory", func(e *env) { os.Remove(e.path); os.Mkdir(e.path, 0o700) }, "must be a regular file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			serve(t, a, func(e *env) {
				tt.do(e)
				e.wait()
				e.want(alice, "alice")
				e.want(bob, "")
				e.wantLog("level=ERROR", tt.want, e.path)
				e.wait()
				e.wantLog() // once is enough

				os.Remove(e.path)
				write(t, e.path, a)
				e.wait()
				e.want(alice, "alice")
				e.wantLog("level=INFO", "keys=1")
				write(t, e.path, b)
				e.wait()
				e.want(alice, "")
				e.want(bob, "bob")
			})
		})
	}
}

// The warning is logged once when a file with no valid key is opened, and once
// whenever the last valid key is gone.
func TestNoValidKey(t *testing.T) {
	_, a := makeKey("alice", forever)
	_, ends := makeKey("bob", minute)
	_, other := makeKey("carol", minute)
	_, ended := makeKey("dave", past)
	expire := func(e *env) { e.sleep(time.Minute) }
	contents := func(s string) func(*env) { return func(e *env) { write(e, e.path, s) } }
	for _, tt := range []struct {
		name     string
		contents string
		do       func(*env)
		at, then int // number of warnings when opening, and after do
	}{
		{"a key", a, func(*env) {}, 0, 0},
		{"none", header, func(*env) {}, 1, 0},
		{"only an expired key", ended, func(*env) {}, 1, 0},
		{"last key revoked", a, contents(header), 0, 1},
		{"last key replaced by an expired one", a, contents(ended), 0, 1},
		{"last key expires", other + ended, expire, 0, 1},
		{"one of two keys expires", ends + a, expire, 0, 0},
		{"none, then one, then none", header, func(e *env) {
			write(e, e.path, a)
			e.wait()
			write(e, e.path, header+"\n# nobody\n")
		}, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			serve(t, tt.contents, func(e *env) {
				want := func(n int) {
					e.Helper()
					log := e.logged()
					if got := strings.Count(log, `level=WARN msg="no valid key`); got != n {
						e.Errorf("warned %d times; want %d:\n%s", got, n, log)
					}
				}
				want(tt.at)
				tt.do(e)
				e.wait()
				want(tt.then)
				e.wait()
				want(0)
			})
		})
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	key, line := makeKey("alice", forever)
	path := filepath.Join(b.TempDir(), "test.keys")
	write(b, path, line)
	f, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Authenticate(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}
