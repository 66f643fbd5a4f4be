package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
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
	if err := os.WriteFile(s.path("animalstore.keys"), []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.until("the bad file is refused", func() bool { return strings.Contains(s.Stderr.String(), "animalstore.keys: line 1") })
	if got := status(s.key); got != 200 {
		t.Errorf("the first key, with a bad file: %d", got)
	}
	if log := s.Stderr.String(); strings.Contains(log, "petstore_") {
		t.Errorf("a key was logged:\n%s", log)
	}
}
