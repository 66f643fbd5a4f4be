package apikey

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// When keys were created and when they expire. Fake clocks start in 2000.
const (
	created = "2000-01-01T00:00:00Z"
	forever = created + " never"
	minute  = created + " 2000-01-01T00:01:00Z"
	past    = "1999-01-01T00:00:00Z 1999-01-01T01:00:00Z"
)

// makeKey returns a key and its line in a file.
func makeKey(account, times string) (key, line string) {
	key = newKey()
	return key, fmt.Sprintf("%x %s %s\n", sha256.Sum256([]byte(key)), account, times)
}

// wantError checks that err contains parts, and neither a key nor a newline.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q; want one with %q", err, part)
		}
	}
	if regexp.MustCompile(`[a-z2-7]{40}|\n`).MatchString(err.Error()) {
		t.Errorf("error contains a key or a newline: %q", err)
	}
}

func TestParse(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	k := Key{ID: "0a0a0a0a0a0a", Account: "alice", Created: at, Hash: [32]byte(bytes.Repeat([]byte{0x0a}, 32))}
	lasting := []Key{k}
	k.Expires = at.Add(time.Minute)
	expiring := []Key{k}
	line := sum + " alice " + forever + "\n"
	for _, tt := range []struct {
		name, contents string
		want           []Key
	}{
		{"one key", line, lasting},
		{"expires", sum + " alice " + minute + "\n", expiring},
		{"comments and blank lines", "# top\n\n  # indented\n" + line + "\n \t\n#" + line + "\n", lasting},
		{"tabs, spaces, carriage return", "\t" + sum + "\talice  " + created + " \tnever \r\n", lasting},
		{"another time zone", sum + " alice 2000-01-01T01:00:00+01:00 1999-12-31T23:01:00-01:00\n", expiring},
		{"upper case digits", strings.ToUpper(sum) + line[64:], lasting},
		{"no keys", "\n", nil},
		{"a comment that is not UTF-8", "# \xff\x00\n", nil},
		{"revoked", strings.ReplaceAll(line, "0a", "0b") + line + "revoked 0b0b0b0b0b0b\n", lasting},
		{"revoked twice", line + "revoked 0a0a0a0a0a0a\nrevoked 0a0a0a0a0a0a\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := parse("", tt.contents)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, keys, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	rest := " alice " + forever + "\n"
	line := sum + rest
	key := newKey()
	for _, tt := range []struct{ name, contents, want string }{
		{"empty", "", "line 1: must end in a newline"},
		{"no newline", line[:len(line)-1], "line 1: must end in a newline"},
		{"no newline after a comment", line + "\n# end", "line 3: must end in a newline"},
		{"only zeros", strings.Repeat("\x00", 4096), "line 1: must end in a newline"},
		{"too few fields", sum + " alice " + created + "\n", "line 1: must have 4 fields (SHA-256, account, created, expires), got 3"},
		{"too many fields", "\n" + sum + " x" + rest, "line 2: must have 4 fields (SHA-256, account, created, expires), got 5"},
		{"short hash", line[1:], "line 1: SHA-256: must"},
		{"long hash", "00" + line, "line 1: SHA-256: must"},
		{"hash with a letter", "0x" + line[2:], "line 1: SHA-256: must"},
		{"byte order mark", "\ufeff" + line, "line 1: SHA-256: must"},
		{"key for its hash", key + rest, "line 1: SHA-256: must"},
		{"bad account", sum + " al/ice " + forever + "\n", "line 1: account: must"},
		{"key with more for its account", sum + " " + key + "! " + forever + "\n", "line 1: account: must"},
		{"created today", sum + " alice today never\n", "line 1: created: must"},
		{"expires tomorrow", sum + " alice " + created + " tomorrow\n", "line 1: expires: must"},
		{"expires when created", sum + " alice " + created + " " + created + "\n", "line 1: expires: must"},
		{"expires at the zero time", sum + " alice 0000-01-01T00:00:00Z 0001-01-01T00:00:00Z\n", "line 1: expires: must"},
		{"revoked before it is there", "revoked 0a0a0a0a0a0a\n" + line, "line 1: revoked: no key on an earlier line has this ID"},
		{"hash for the ID of a revoked key", line + "revoked " + sum + "\n", "line 2: revoked: no key"},
		{"revoked key again", line + "revoked 0a0a0a0a0a0a\n" + line, "line 3: SHA-256: must differ"},
		{"a key twice", "#\n" + line + line, "line 3: SHA-256: must differ"},
		{"an ID twice", line + "\n" + line[:62] + "ff" + rest, "line 3: SHA-256: must differ"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("my.keys", tt.contents)
			wantError(t, err, "my.keys: "+tt.want)
		})
	}
}
