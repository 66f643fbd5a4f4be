package conformance

import (
	"regexp"
	"slices"
	"testing"
)

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

// A run sends texts with what servers change by mistake.
func TestTexts(t *testing.T) {
	for _, pattern := range []string{
		`[A-Z]`, `\x00`, `[\x01-\x1f]`, `\r\n`, `\t`, `猫{1000}`, `[<>]`, `</?b>`, `%20`, `\+`, `'`, `\\`,
		"e\u0301", "A\u030a", "\u212b", `[\x{250}-\x{FFFF}]`, `[\x{10000}-\x{10FFFF}]`, "\u200d", "\u202e", "\u00ad", "\ufeff", "[\ufffe\uffff]",
		`^0\d`, `^12345678901234567890$`, `^1\.10$`, `^null$`, `^no$`, `^constructor$`, `^\{.*\}$`, `\$\{name\}`,
	} {
		re := regexp.MustCompile("(?s)" + pattern)
		if !slices.ContainsFunc(slices.Concat(texts, words), func(text string) bool { return re.MatchString(fillText(text, "Confabcdef")) }) {
			t.Errorf("no text has %s", pattern)
		}
	}
}
