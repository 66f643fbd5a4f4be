package apikey

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// created is when keys were created: fake clocks start then.
const created = "2000-01-01T00:00:00Z"

// makeKey returns a key and its line in a file.
func makeKey(account string) (key, line string) {
	key = newSecret()
	return key, fmt.Sprintf("%x %s %s\n", sha256.Sum256([]byte(key)), account, created)
}

// wantError checks that err contains want, and neither a key nor a newline.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || regexp.MustCompile(`[a-z2-7]{26}|\n`).MatchString(err.Error()) {
		t.Errorf("the error is %v; want one with %q, and no key", err, want)
	}
}

func TestParse(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	rest := " alice " + created + "\n"
	line := sum + rest
	key := newSecret()
	want := []Key{{"0a0a0a0a0a0a", "alice", time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), [32]byte(bytes.Repeat([]byte{0x0a}, 32))}}
	for _, tt := range []struct {
		name, contents string
		want           []Key
		err            string
	}{
		{"one key", line, want, ""},
		{"comments and blank lines", "# top\n\n  # indented\n" + line + "\n \t\n#" + line + "\n", want, ""},
		{"another time zone", sum + " alice 2000-01-01T01:00:00+01:00\n", want, ""},
		{"no keys", "\n", nil, ""},
		{"no newline at the end", line[:len(line)-1], want, ""},
		{"revoked", strings.ReplaceAll(line, "0a", "0b") + line + "revoked 0b0b0b0b0b0b\n", want, ""},
		{"revoked twice", line + "revoked 0a0a0a0a0a0a\nrevoked 0a0a0a0a0a0a\n", nil, ""},

		{"empty", "", nil, "is empty"},
		{"half written", line + line[:len(line)-2], nil, "line 2: must be a SHA-256"},
		{"half revoked", line + "revoked 0a0a0a", nil, "line 2: revoked: no key"},
		{"too many fields", "\n" + sum + " x" + rest, nil, "line 2: must be a SHA-256"},
		{"long hash", "00" + line, nil, "line 1: must be a SHA-256"},
		{"key for its hash", key + rest, nil, "line 1: must be a SHA-256"},
		{"key with more for its account", sum + " " + key + "! " + created + "\n", nil, "line 1: must be a SHA-256"},
		{"created today", sum + " alice today\n", nil, "line 1: must be a SHA-256"},
		{"revoked before it is there", "revoked 0a0a0a0a0a0a\n" + line, nil, "line 1: revoked: no key on an earlier line has this ID"},
		{"hash for the ID of a revoked key", line + "revoked " + sum + "\n", nil, "line 2: revoked: no key"},
		{"revoked key again", line + "revoked 0a0a0a0a0a0a\n" + line, nil, "line 3: SHA-256: must differ"},
		{"an ID twice", line + "\n" + line[:62] + "ff" + rest, nil, "line 3: SHA-256: must differ"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := parse(tt.contents)
			if tt.err != "" {
				wantError(t, err, tt.err)
			} else if err != nil {
				t.Error(err)
			}
			if !slices.Equal(keys, tt.want) {
				t.Errorf("the keys are %+v, want %+v", keys, tt.want)
			}
		})
	}
}
