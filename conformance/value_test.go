package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestExactInt64(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		err  string // part of the error; "": none
	}{
		{text: "0"}, {text: "-0"}, {text: "7", want: 7},
		{text: "9223372036854775807", want: 1<<63 - 1},
		{text: "-9223372036854775808", want: -1 << 63},
		{text: "9007199254740993", want: 1<<53 + 1},
		{text: "1.0", want: 1}, {text: "4e2", want: 400}, {text: "4.0E+2", want: 400}, {text: "100e-2", want: 1},
		{text: "9223372036854775808", err: "does not fit"},
		{text: "-9223372036854775809", err: "does not fit"},
		{text: "1e30", err: "does not fit"},
		{text: "1.5", err: "is not an integer"},
		{text: "1e-1", err: "is not an integer"},
		{text: "1e999999999999", err: "is not an int64"},
		{text: "1e-999999999999", err: "is not an int64"},
		{text: "1." + strings.Repeat("0", 2000), err: "is not an int64"},
		{text: `"7"`, err: `is the string "7", not an integer`},
		{text: "null", err: "is null, not an integer"},
		{text: "[7]", err: "is an array, not an integer"},
	} {
		got, err := exactInt64(jsontext.Value(tt.text))
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("exactInt64(%s) = %d, %v; want %d, %q", short(tt.text), got, err, tt.want, tt.err)
		}
	}
}

func TestParse(t *testing.T) {
	for text, ok := range map[string]bool{
		`[]`: true, " \r\n\t{} \n": true, `{"a":1,"a":2}`: true, `"\ud800"`: true, `null`: true, "7": true,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{} x`: false, `[][]`: false, "\xef\xbb\xbf[]": false,
		"\"\xff\"": false, `{'a':1}`: false, `NaN`: false, "\v[]": false, "\u00a0[]": false,
	} {
		if _, err := parse([]byte(text)); (err == nil) != ok {
			t.Errorf("parse(%q): %v", text, err)
		}
	}
}

func TestParseTimestamp(t *testing.T) {
	want := time.Date(2026, 11, 21, 5, 46, 16, 0, time.UTC)
	for _, text := range []string{
		"2026-11-21T05:46:16Z", "2026-11-21T05:46:16.123456789Z", "2026-11-21T05:46:16,5Z", "2026-11-21T05:46:16+00:00",
		"2026-11-21T05:46:16-00:00", "2026-11-21T05:46:16+00", "2026-11-21t05:46:16z", "20261121T054616Z", "20261121T054616+0000",
	} {
		if got, err := parseTimestamp(text); err != nil || !got.Equal(want) {
			t.Errorf("parseTimestamp(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"2026-11-21T05:46Z", "2016-12-31T23:59:60Z"} {
		if _, err := parseTimestamp(text); err != nil {
			t.Errorf("parseTimestamp(%q): %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"":                              "no timestamp",
		"2026-11-21":                    "no timestamp",
		"2026-11-21T05:46:16":           "local time",
		"2026-11-21T05:46:16+02:00":     "not UTC",
		"2026-11-21T05:46:16-0500":      "not UTC",
		"2026-11-21 05:46:16Z":          "no timestamp",
		"2026-1121T05:46:16Z":           "no timestamp",
		"2026-13-21T05:46:16Z":          "no day",
		"2026-02-30T05:46:16Z":          "no day",
		"2026-11-21T25:46:16Z":          "no day",
		"1795132800":                    "no timestamp",
		"Sat, 21 Nov 2026 05:46:16 GMT": "no timestamp",
	} {
		if _, err := parseTimestamp(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseTimestamp(%q): %v, want %q", text, err, want)
		}
	}
}

func TestMatchGlob(t *testing.T) {
	for _, tt := range []struct {
		glob, id string
		want     bool
	}{
		{"pets.list.limit.max", "pets.list.limit.max", true},
		{"pets.list", "pets.list.limit.max", false},
		{"pets.list.*", "pets.list.limit.max", true},
		{"*.max", "pets.list.limit.max", true},
		{"*limit*", "pets.list.limit.max", true},
		{"pets.*.max", "pets.list.limit.max", true},
		{"pets.*.min", "pets.list.limit.max", false},
		{"*", "x", true},
		{"", "x", false},
		{"pets?list", "pets.list", false},
	} {
		if got := matchGlob(tt.glob, tt.id); got != tt.want {
			t.Errorf("matchGlob(%q, %q) = %v", tt.glob, tt.id, got)
		}
	}
}

func TestOtherKey(t *testing.T) {
	for _, key := range []string{testKeyWithPrefix, "a", "1", "Z9", "0000000000", "a-b", "ABCDEFGHIJKLMNOP", "~!@"} {
		other := otherKey(key)
		if other == key || len(other) != len(key) {
			t.Errorf("otherKey(%q) = %q", key, other)
		}
	}
	if got := otherKey(testKeyWithPrefix); !strings.HasPrefix(got, "petstore_") {
		t.Errorf("otherKey lost the prefix: %q", got)
	}
}

const testKeyWithPrefix = "petstore_zw3eackaijyksx4mvj2nwlomzp2n57vpzsvix4kp6n3n2yt2lhvsroxg"
