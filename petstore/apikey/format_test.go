package apikey

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sum is the hash of a key in hexadecimal, as files have it.
var sum = strings.Repeat("0a", 32)

func TestParse(t *testing.T) {
	k := Key{ID: "id1", Account: "alice", Created: created}
	copy(k.SHA256[:], bytes.Repeat([]byte{10}, 32))
	ends := k
	ends.Expires = created.Add(time.Hour)
	line := "id1 alice " + sum + " 2026-11-20T09:30:00Z"
	tests := []struct {
		name, data string
		want       []Key
	}{
		{"one key", line + "\n", []Key{k}},
		{"one that expires", line + " 2026-11-20T10:30:00Z\n", []Key{ends}},
		{"comments and blank lines", "# top\n\n  # indented\n" + line + "\n \t\n#" + line + "\n", []Key{k}},
		{"tabs, more spaces, carriage return", "\tid1\talice  " + sum + " \t2026-11-20T09:30:00Z \r\n", []Key{k}},
		{"another zone", "id1 alice " + sum + " 2026-11-20T10:30:00+01:00\n", []Key{k}},
		{"upper case digits", "id1 alice " + strings.ToUpper(sum) + " 2026-11-20T09:30:00Z\n", []Key{k}},
		{"no key", "\n", nil},
		{"a comment that is not UTF-8", "# \xff\x00\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parse([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, d.keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.data, string(d.bytes())); diff != "" {
				t.Errorf("written again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	const when = "2026-11-20T09:30:00Z"
	line := "id1 alice " + sum + " " + when
	key, _ := newKey(t, "alice")
	tests := []struct{ name, data, want string }{
		{"empty", "", "empty"},
		{"no newline", line, "line 1: no newline"},
		{"no newline after a comment", line + "\n# end", "line 2: no newline"},
		{"too few fields", "id1 alice " + sum + "\n", "line 1: has 3 fields"},
		{"too many fields", line + " " + when + " x\n", "line 1: has 6 fields"},
		{"id", "i/d alice " + sum + " " + when + "\n", "line 1: id: must"},
		{"long id", strings.Repeat("x", 33) + " alice " + sum + " " + when + "\n", "line 1: id: must"},
		{"account", "id1 al/ice " + sum + " " + when + "\n", "line 1: account: must"},
		{"short hash", "id1 alice " + sum[1:] + " " + when + "\n", "line 1: SHA-256: must"},
		{"long hash", "id1 alice " + sum + "00 " + when + "\n", "line 1: SHA-256: must"},
		{"hash that is none", "id1 alice " + sum[2:] + "0x " + when + "\n", "line 1: SHA-256: must"},
		{"the key for its hash", "id1 alice " + key + " " + when + "\n", "line 1: SHA-256: must"},
		{"the key for its account", "id1 " + key + "! " + sum + " " + when + "\n", "line 1: account: must"},
		{"the key for its id", key + " alice " + sum + " " + when + "\n", "line 1: id: must"},
		{"created", "id1 alice " + sum + " today\n", "line 1: created: must"},
		{"expires", line + " never\n", "line 1: expires: must"},
		{"expires at the zero time", "id1 alice " + sum + " 0000-01-01T00:00:00Z 0001-01-01T00:00:00Z\n", "line 1: expires: must"},
		{"expires before created", line + " 2026-11-20T09:29:59Z\n", "line 1: expiry: must be after"},
		{"a year before the first", "id1 alice " + sum + " 0000-01-01T00:00:00+01:00\n", "line 1: time: must"},
		{"an id twice", line + "\n\nid1 bob " + sum[2:] + "00 " + when + "\n", "line 3: id: the same as in line 1"},
		{"a key twice", "#\n" + line + "\nid2 bob " + sum + " " + when + "\n", "line 3: SHA-256: the same key as in line 2"},
		{"unicode space", strings.ReplaceAll(line, " ", "\u00a0") + "\n", "line 1: has 1 fields"},
		{"byte order mark", "\ufeff" + line + "\n", "line 1: id: must"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse([]byte(tt.data))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("error %v; want one that starts with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error shows the key or is no single line: %v", err)
			}
		})
	}
}

// What is read is written again byte for byte, and a key added or removed
// changes its own line and no other.
func FuzzParse(f *testing.F) {
	_, k := newKey(f, "alice")
	f.Add([]byte(header+"\n"+k.line()+"\n"), "alice", int64(0))
	f.Add([]byte("\n# x\r\n\t"+k.line()+" 2030-01-01T00:00:00+14:00\r\n"), "bob@example.com", int64(1))
	f.Add([]byte(""), "", int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, account string, seconds int64) {
		d, err := parse(data)
		if err != nil {
			return
		}
		if got := d.bytes(); !bytes.Equal(data, got) {
			t.Fatalf("read %q, wrote %q", data, got)
		}
		_, k, err := New(account, created, created.Add(time.Duration(seconds)*time.Second))
		if err != nil {
			return
		}
		before := fmt.Sprint(d.keys)
		if err := d.add(k); err != nil {
			t.Fatal(err)
		}
		again, err := parse(d.bytes())
		if err != nil {
			t.Fatalf("after adding: %v", err)
		}
		if diff := cmp.Diff(d.keys, again.keys); diff != "" {
			t.Fatalf("after adding (-want +got):\n%s", diff)
		}
		for _, d := range []*document{d, again} {
			if got, err := d.remove(k.ID); err != nil || got != k {
				t.Fatalf("remove gave %v, %v", got, err)
			}
			if got := d.bytes(); !bytes.Equal(data, got) {
				t.Fatalf("read %q, wrote %q after adding and removing", data, got)
			}
			if got := fmt.Sprint(d.keys); got != before {
				t.Fatalf("keys %s, then %s", before, got)
			}
		}
	})
}
