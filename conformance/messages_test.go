package conformance

import (
	"strings"
	"testing"
	"time"
)

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
		"":                              "not a timestamp",
		"2026-11-21":                    "not a timestamp",
		"2026-11-21T05:46:16":           "local time",
		"2026-11-21T05:46:16+02:00":     "not UTC",
		"2026-11-21T05:46:16-0500":      "not UTC",
		"2026-11-21 05:46:16Z":          "not a timestamp",
		"2026-1121T05:46:16Z":           "not a timestamp",
		"2026-13-21T05:46:16Z":          "does not exist",
		"2026-02-30T05:46:16Z":          "does not exist",
		"2026-11-21T25:46:16Z":          "does not exist",
		"1795132800":                    "not a timestamp",
		"Sat, 21 Nov 2026 05:46:16 GMT": "not a timestamp",
	} {
		if _, err := parseTimestamp(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseTimestamp(%q): %v, want %q", text, err, want)
		}
	}
}
