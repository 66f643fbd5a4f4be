package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A running server follows its key file.
func TestKeysWhileServing(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	status := func(key string) int {
		r, err := s.Send("GET", "/pets", "", "Authorization", "Bearer "+key)
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	code, stdout, stderr := run(t, s.Dir, "keys create -expires=720h alice")
	if code != 0 || !regexp.MustCompile(`^key ([0-9a-f]{12}) of account alice; keys revoke [0-9a-f]{12} takes it away\n$`).MatchString(stderr) {
		t.Fatalf("keys create: exit code %d, standard error %q", code, stderr)
	}
	key := strings.TrimSuffix(stdout, "\n")
	if !regexp.MustCompile(`^petstore_[a-z2-7]{56}$`).MatchString(key) {
		t.Fatalf("keys create printed %q, want only a key", stdout)
	}
	s.Until("the new key works", func() bool { return status(key) == 200 })

	list := succeeds(t, s.Dir, "keys list")
	line := regexp.MustCompile(`(?m)^([0-9a-f]{12})  alice +\S+Z  \S+Z$`).FindStringSubmatch(list)
	if line == nil || strings.Contains(list, "petstore_") {
		t.Fatalf("keys list printed\n%s", list)
	}
	if got, want := succeeds(t, s.Dir, "keys revoke "+line[1]), "revoked "+line[1]+" of alice\n"; got != want {
		t.Errorf("keys revoke printed %q, want %q", got, want)
	}
	s.Until("the revoked key is refused", func() bool { return status(key) == 401 })
	s.Must(200, "GET", "/pets", "")

	writeFile(t, s.Path("petstore.keys"), []byte("nonsense\n"))
	s.logs("petstore.keys: line 1")
	s.Must(200, "GET", "/pets", "") // a malformed file changes nothing
	if log := s.Stderr.String(); strings.Contains(log, "petstore_") {
		t.Errorf("a key was logged:\n%s", log)
	}
}

// A server reads its keys through a symbolic link, but "keys create" refuses
// one. The server warns when no key is left.
func TestLinkedKeyFile(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	s.Stop()
	link := filepath.Join(t.TempDir(), "linked.keys")
	if err := os.Symlink(s.Path("petstore.keys"), link); err != nil {
		t.Skip(err)
	}
	again := start(t, s.Dir, "-keys="+link)
	again.Must(200, "GET", "/pets", "")
	before := tree(t, s.Dir)
	if stdout := fails(t, s.Dir, "keys create alice -keys="+link, 1, link, "symbolic link"); stdout != "" {
		t.Errorf("keys create through a link printed %q", stdout)
	}
	if diff := cmp.Diff(before, tree(t, s.Dir)); diff != "" {
		t.Errorf("keys create through a link (-before +after):\n%s", diff)
	}
	writeFile(t, s.Path("petstore.keys"), []byte("# none\n"))
	const warning = `level=WARN msg="no valid key`
	again.logs(warning)
	again.Stop()
	start(t, s.Dir).logs(warning)
}
