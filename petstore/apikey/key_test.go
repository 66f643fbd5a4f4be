package apikey

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"
	"time"
)

var created = time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)

// newKey makes a key that never expires.
func newKey(t testing.TB, account string) (string, Key) {
	t.Helper()
	key, k, err := New(account, created, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return key, k
}

func TestNew(t *testing.T) {
	form := regexp.MustCompile(`^petstore_[a-z2-7]{56}$`)
	seen := map[string]bool{}
	for range 100 {
		key, k := newKey(t, "alice")
		if !form.MatchString(key) || len(key) != KeyLen {
			t.Fatalf("New gave a key of %d characters that is not of the form %v", len(key), form)
		}
		if err := Check(key); err != nil {
			t.Fatalf("Check of a new key: %v", err)
		}
		if k.SHA256 != sha256.Sum256([]byte(key)) {
			t.Fatal("SHA256 is not the key's")
		}
		if seen[key] || seen[k.ID] {
			t.Fatal("New gave a key or an ID twice")
		}
		seen[key], seen[k.ID] = true, true
	}
}

func TestNewTimes(t *testing.T) {
	zone := time.FixedZone("", 3600)
	_, k, err := New("alice", created.Add(time.Millisecond).In(zone), created.Add(time.Hour+time.Millisecond).In(zone))
	if err != nil {
		t.Fatal(err)
	}
	if k.Created != created || k.Expires != created.Add(time.Hour) {
		t.Errorf("New kept %v and %v; want UTC to the second", k.Created, k.Expires)
	}
	for _, expires := range []time.Time{created, created.Add(-time.Hour), created.Add(time.Millisecond)} {
		if _, _, err := New("alice", created, expires); err == nil {
			t.Errorf("New took a key created at %v that expires at %v", created, expires)
		}
	}
}

func TestNewAccounts(t *testing.T) {
	good := []string{"a", "7", "alice", "ci@example.com", "A.b_c@d+e-f", strings.Repeat("x", 128)}
	bad := []string{"", " ", "a b", "a\tb", "a\nb", "-a", "#a", ".a", "@a", "zoë", "a\x00", "a/b", "a\u00a0b", "\xff", strings.Repeat("x", 129)}
	for _, account := range good {
		if _, _, err := New(account, created, time.Time{}); err != nil {
			t.Errorf("New(%q): %v", account, err)
		}
	}
	for _, account := range bad {
		if _, _, err := New(account, created, time.Time{}); err == nil || !strings.HasPrefix(err.Error(), "account: ") {
			t.Errorf("New(%q): error %v; want one about the account", account, err)
		}
	}
}

func TestCheck(t *testing.T) {
	key, _ := newKey(t, "alice")
	body := strings.TrimPrefix(key, Prefix)
	other := func(c byte) string {
		if c == 'a' {
			return "b"
		}
		return "a"
	}
	tests := []struct{ name, key, want string }{
		{"empty", "", "does not start with petstore_"},
		{"another prefix", "ghp_" + body, "does not start with petstore_"},
		{"upper case", strings.ToUpper(key), "does not start with petstore_"},
		{"cut short", key[:len(key)-1], "64 characters long, not 65"},
		{"prolonged", key + "a", "66 characters long, not 65"},
		{"strange character", key[:20] + "!" + key[21:], "has a character"},
		{"newline", key[:20] + "\n" + key[21:], "has a character"},
		{"first character mistyped", Prefix + other(body[0]) + body[1:], "checksum"},
		{"last character mistyped", key[:len(key)-1] + other(key[len(key)-1]), "checksum"},
		{"two characters swapped", swapped(key), "checksum"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check(tt.key)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Check: error %v; want one with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), body[:20]) {
				t.Error("the error shows the key")
			}
		})
	}
}

// swapped returns key with the first two neighbours that differ swapped.
func swapped(key string) string {
	b := []byte(key)
	for i := len(Prefix); ; i++ {
		if b[i] != b[i+1] {
			b[i], b[i+1] = b[i+1], b[i]
			return string(b)
		}
	}
}
