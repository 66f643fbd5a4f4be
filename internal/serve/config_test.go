package serve

import "testing"

func TestParseBasePath(t *testing.T) {
	for s, want := range map[string]string{"/": "", "/v1": "/v1", "/a/b-c.d_e~f": "/a/b-c.d_e~f"} {
		if got, err := parseBasePath(s); err != nil || got != want {
			t.Errorf("parseBasePath(%q): %q, %v; want %q", s, got, err, want)
		}
	}
	for _, s := range []string{"", "v1", "/v1/", "//v1", "/a//b", "/a/../b", "/.", "/..", "/a b", "/a%20b", "/a?b", "/ä", "http://x/v1"} {
		if got, err := parseBasePath(s); err == nil {
			t.Errorf("parseBasePath(%q): %q, want an error", s, got)
		}
	}
}
