package conformance

import "testing"

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-23T10:20:00Z": "RFC 3339", "2026-11-23t10:20:00.000z": "RFC 3339", "2026-11-23T10:20:00+00:00": "RFC 3339",
		"20261123T102000Z": "other form", "2026-W48-1T10:20Z": "other form", "2026W481T1020Z": "other form", "2026-327T10:20:00+00:00": "other form",
		"2026-11-23T10:20:00+0000": "other form", "2026-11-23T10:20:00.5+00": "other form", "2026-11-23T10:20:00,5Z": "RFC 3339", "+002026-11-23T10:20Z": "other form",
		"2026-11-23T10:20:00": "", "2026-11-23T10:20:00+02:00": "", "2026-11-23 10:20:00Z": "", "Mon, 23 Nov 2026 10:20:00 GMT": "", "1795132800": "", "": "",
	} {
		got := ""
		if _, err := parseTimestamp(text); err == nil {
			got = "RFC 3339"
		} else if otherForm.MatchString(text) {
			got = "other form"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
