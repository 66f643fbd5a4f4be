package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Keys made and taken away beside a running server.
func TestKeysBesideTheServer(t *testing.T) {
	s := start(t, t.TempDir())
	keys := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := run(t, s.dir, append([]string{"keys"}, args...)...)
		told := regexp.MustCompile(`^key ([0-9a-f]{12}) of account alice; keys revoke [0-9a-f]{12} takes it away\n$`).MatchString(stderr)
		if code != 0 || told != (args[0] == "create") || !told && stderr != "" {
			t.Fatalf("keys %v: exit code %d: %s", args, code, stderr)
		}
		return stdout
	}
	status := func(key string) int { return s.do("GET", s.URL+"/pets", key, "").status }

	out := keys("create", "-expires=720h", "alice")
	key := strings.TrimSuffix(out, "\n")
	if !regexp.MustCompile(`^petstore_[a-z2-7]{56}$`).MatchString(key) {
		t.Fatalf("keys create printed more than a key, or none: %q", out)
	}
	began := time.Now()
	s.until("the new key is taken", func() bool { return status(key) == 200 })
	t.Logf("taken after %v", time.Since(began))

	list := keys("list")
	line := regexp.MustCompile(`(?m)^([0-9a-f]{12})  alice +\S+Z  \S+Z$`).FindStringSubmatch(list)
	if line == nil || strings.Contains(list, "petstore_") {
		t.Fatalf("keys list printed\n%s", list)
	}
	if got, want := keys("revoke", line[1]), "revoked "+line[1]+" of alice\n"; got != want {
		t.Errorf("keys revoke printed %q; want %q", got, want)
	}
	began = time.Now()
	s.until("the revoked key is refused", func() bool { return status(key) == 401 })
	t.Logf("refused after %v", time.Since(began))
	if got := status(s.key); got != 200 {
		t.Errorf("the first key: %d", got)
	}

	// A file that makes no sense changes nothing, and says so once.
	if err := os.WriteFile(s.path("petstore.keys"), []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.until("the bad file is refused", func() bool { return strings.Contains(s.Stderr.String(), "petstore.keys: line 1") })
	if got := status(s.key); got != 200 {
		t.Errorf("the first key, with a bad file: %d", got)
	}
	if log := s.Stderr.String(); strings.Contains(log, "petstore_") {
		t.Errorf("a key was logged:\n%s", log)
	}
}

// A server reads its keys through a symbolic link, but "keys create" refuses
// one. The server warns when no key is left.
func TestLinkedKeyFile(t *testing.T) {
	s := start(t, t.TempDir())
	s.stop()
	link := filepath.Join(t.TempDir(), "linked.keys")
	if err := os.Symlink(s.path("petstore.keys"), link); err != nil {
		t.Skip(err)
	}
	again := start(t, s.dir, "-keys="+link)
	if r := again.do("GET", again.URL+"/pets", s.key, ""); r.status != 200 {
		t.Errorf("GET /pets with a key that was read through a link: %d", r.status)
	}
	before := tree(t, s.dir)
	code, stdout, stderr := run(t, s.dir, "keys", "create", "-keys="+link, "alice")
	if code != 1 || stdout != "" {
		t.Errorf("keys create through a link: exit code %d, %q", code, stdout)
	}
	oneLine(t, stderr, link, "symbolic link")
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("keys create through a link (-before +after):\n%s", diff)
	}

	if err := os.WriteFile(s.path("petstore.keys"), []byte("# none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	warned := func(s *server) bool { return strings.Contains(s.Stderr.String(), `level=WARN msg="no valid key`) }
	again.until("it warns", func() bool { return warned(again) })
	again.stop()
	if !warned(start(t, s.dir)) {
		t.Error("a start with a key file without keys does not warn")
	}
}
