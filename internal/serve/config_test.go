package serve

import (
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	valid := func() *config {
		return &config{addr: ":0", basePath: "/v1", logFormat: "text", drain: time.Second}
	}
	for path, want := range map[string]string{"/": "", "/v1": "/v1", "/a/b-c.d_e~f": "/a/b-c.d_e~f"} {
		c := valid()
		c.basePath = path
		if err := c.check(); err != nil || c.base() != want {
			t.Errorf("-base-path %q: %q, %v; want %q", path, c.base(), err, want)
		}
	}
	for _, path := range []string{"", "v1", "/v1/", "//v1", "/a//b", "/a/../b", "/.", "/..", "/a b", "/a%20b", "/a?b", "/ä", "http://x/v1"} {
		c := valid()
		c.basePath = path
		if err := c.check(); err == nil {
			t.Errorf("-base-path %q: no error", path)
		}
	}
	for _, addr := range []string{"", "8080", "localhost", "http://localhost:80", "localhost/x:80", "[::1"} {
		c := valid()
		c.addr = addr
		if err := c.check(); err == nil {
			t.Errorf("-addr %q: no error", addr)
		}
	}
}
