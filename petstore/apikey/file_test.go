package apikey

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// env is a key file that a File has open, with the ticker stopped: the test
// says when the file is looked at.
type env struct {
	t    *testing.T
	path string
	file *File
	log  bytes.Buffer
	now  time.Time
}

func newEnv(t *testing.T, keys ...Key) *env {
	t.Helper()
	e := &env{t: t, path: filepath.Join(t.TempDir(), "test.keys"), now: created}
	e.write(header + "\n")
	for _, k := range keys {
		if err := Add(e.path, k); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(e.path, &Options{
		Logger: slog.New(slog.NewTextHandler(&e.log, nil)),
		Now:    func() time.Time { return e.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	e.file = f
	e.rest()
	return e
}

// rest looks at the file as often as it takes for a change to be taken.
func (e *env) rest() { e.file.poll(); e.file.poll() }

func (e *env) write(s string) {
	e.t.Helper()
	if err := os.WriteFile(e.path, []byte(s), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// want checks whom the key stands for; "" means that it is refused.
func (e *env) want(key, account string) {
	e.t.Helper()
	got, err := e.file.Authenticate(e.t.Context(), key)
	if got != account {
		e.t.Errorf("Authenticate gave account %q; want %q", got, account)
	}
	if account == "" && petstore.CodeOf(err) != petstore.CodeUnauthorized || account != "" && err != nil {
		e.t.Errorf("Authenticate gave error %v for account %q", err, account)
	}
}

// wantLog checks what was logged since the last time.
func (e *env) wantLog(parts ...string) {
	e.t.Helper()
	got := e.log.String()
	e.log.Reset()
	if n := strings.Count(got, "\n"); n != min(len(parts), 1) {
		e.t.Errorf("logged %d lines:\n%s", n, got)
	}
	for _, p := range parts {
		if !strings.Contains(got, p) {
			e.t.Errorf("logged %q; want it to say %q", got, p)
		}
	}
	if strings.Contains(got, Prefix) {
		e.t.Errorf("logged a key: %s", got)
	}
}

func TestAuthenticate(t *testing.T) {
	alice, a := newKey(t, "alice")
	alice2, a2 := newKey(t, "alice")
	bob, b := newKey(t, "bob")
	stranger, _ := newKey(t, "stranger")
	e := newEnv(t, a, a2, b)
	e.want(alice, "alice")
	e.want(alice2, "alice")
	e.want(bob, "bob")
	for _, key := range []string{"", stranger, alice[:len(alice)-1], alice + "a", strings.ToUpper(alice), " " + alice,
		string(a.SHA256[:]), strings.Repeat("x", 1<<20)} {
		e.want(key, "")
	}
	e.wantLog()
}

func TestAuthenticateAllocatesNothing(t *testing.T) {
	alice, a := newKey(t, "alice")
	stranger, _ := newKey(t, "stranger")
	e := newEnv(t, a)
	for _, key := range []string{alice, stranger} {
		if n := testing.AllocsPerRun(100, func() { e.file.Authenticate(t.Context(), key) }); n != 0 {
			t.Errorf("Authenticate allocated %v times", n)
		}
	}
}

func TestExpiry(t *testing.T) {
	key, k, err := New("alice", created, created.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, k)
	for _, tt := range []struct {
		after   time.Duration
		account string
	}{{0, "alice"}, {time.Hour - 1, "alice"}, {time.Hour, ""}, {48 * time.Hour, ""}} {
		e.now = created.Add(tt.after)
		e.want(key, tt.account)
		if got := k.Expired(e.now); got != (tt.account == "") {
			t.Errorf("Expired(%v after creation) = %v", tt.after, got)
		}
	}
}

func TestReload(t *testing.T) {
	alice, a := newKey(t, "alice")
	bob, b := newKey(t, "bob")
	e := newEnv(t, a)

	if err := Add(e.path, b); err != nil {
		t.Fatal(err)
	}
	e.file.poll()
	e.want(bob, "") // one look could have seen half of a change
	e.file.poll()
	e.want(alice, "alice")
	e.want(bob, "bob")
	e.wantLog("level=INFO", "key file taken", "keys=2")

	if _, err := Revoke(e.path, a.ID); err != nil {
		t.Fatal(err)
	}
	e.rest()
	e.want(alice, "")
	e.want(bob, "bob")
	e.wantLog("keys=1")

	// A change of the time alone is none.
	if err := os.Chtimes(e.path, created, created); err != nil {
		t.Fatal(err)
	}
	e.rest()
	e.wantLog()
}

func TestBadFileIsKeptOut(t *testing.T) {
	alice, a := newKey(t, "alice")
	bob, b := newKey(t, "bob")
	good := a.line() + "\n"
	tests := []struct {
		name string
		do   func(*env)
		want string
	}{
		{"empty", func(e *env) { e.write("") }, "half written"},
		{"cut in a line", func(e *env) { e.write(good + b.line()[:40]) }, "line 2: no newline"},
		{"cut before the newline", func(e *env) { e.write(good + b.line()) }, "line 2: no newline"},
		{"a bad line", func(e *env) { e.write(b.line() + "\nnonsense\n") }, "line 2: has 1 fields"},
		{"the key itself", func(e *env) { e.write("id bob " + bob + " 2026-11-20T09:30:00Z\n") }, "line 1: SHA-256"},
		{"zeros", func(e *env) { e.write(strings.Repeat("\x00", 4096)) }, "line 1"},
		{"gone", func(e *env) { os.Remove(e.path) }, "no such file"},
		{"a directory", func(e *env) { os.Remove(e.path); os.Mkdir(e.path, 0o700) }, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t, a)
			tt.do(e)
			e.rest()
			e.want(alice, "alice")
			e.want(bob, "")
			e.wantLog("level=ERROR", tt.want)
			e.rest()
			e.rest()
			e.wantLog() // once is enough

			os.Remove(e.path)
			e.write(b.line() + "\n")
			e.rest()
			e.want(alice, "")
			e.want(bob, "bob")
			e.wantLog("level=INFO", "keys=1")
		})
	}
}

// The log warns once if a key file has no valid key when it is opened, and once
// whenever its last valid key is gone.
func TestNoValidKey(t *testing.T) {
	const warning = "no valid key"
	_, a := newKey(t, "alice")
	_, ends, err := New("bob", created, created.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	_, ended, err := New("carol", created.Add(-2*time.Hour), created.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		keys     []Key
		do       func(*env)
		at, then int // number of warnings after opening, and in all after do
	}{
		{"a key", []Key{a}, func(*env) {}, 0, 0},
		{"none", nil, func(*env) {}, 1, 1},
		{"only an expired one", []Key{ended}, func(*env) {}, 1, 1},
		{"the last is revoked", []Key{a}, func(e *env) { e.write(header + "\n") }, 0, 1},
		{"the last is replaced by an expired one", []Key{a}, func(e *env) { e.write(ended.line() + "\n") }, 0, 1},
		{"the last expires", []Key{ends, ended}, func(e *env) { e.now = created.Add(time.Hour) }, 0, 1},
		{"one of two expires", []Key{ends, a}, func(e *env) { e.now = created.Add(time.Hour) }, 0, 0},
		{"none, then one, then none", nil, func(e *env) {
			e.write(a.line() + "\n")
			e.rest()
			e.write(header + "\n# nobody\n")
		}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t, tt.keys...)
			if n := strings.Count(e.log.String(), warning); n != tt.at {
				t.Errorf("warned %d times when it was opened; want %d:\n%s", n, tt.at, &e.log)
			}
			tt.do(e)
			e.rest()
			e.rest()
			if n := strings.Count(e.log.String(), warning); n != tt.then {
				t.Errorf("warned %d times in all; want %d:\n%s", n, tt.then, &e.log)
			}
		})
	}
}

func TestBadThenAsBefore(t *testing.T) {
	alice, a := newKey(t, "alice")
	e := newEnv(t, a)
	if err := os.Rename(e.path, e.path+".away"); err != nil {
		t.Fatal(err)
	}
	e.rest()
	e.wantLog("level=ERROR")
	if err := os.Rename(e.path+".away", e.path); err != nil {
		t.Fatal(err)
	}
	e.rest()
	e.wantLog("level=INFO", "key file taken", "keys=1")
	e.want(alice, "alice")
}

// With the ticker running a change is taken without help.
func TestFollow(t *testing.T) {
	_, a := newKey(t, "alice")
	bob, b := newKey(t, "bob")
	path := filepath.Join(t.TempDir(), "test.keys")
	if err := Add(path, a); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Add(path, b); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := f.Authenticate(t.Context(), bob); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the new key was not taken")
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.keys")
	if err := os.WriteFile(bad, []byte("# fine\n\nnot a key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		bad:                          bad + ": line 3: has 3 fields",
		dir:                          "not a regular file",
		filepath.Join(dir, "absent"): "no such file",
	} {
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: error %v; want one with %q", err, want)
		}
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	key, k := newKey(b, "alice")
	path := filepath.Join(b.TempDir(), "test.keys")
	if err := Add(path, k); err != nil {
		b.Fatal(err)
	}
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
