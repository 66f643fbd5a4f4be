package serve

import (
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, addr := range []string{"", "8080", "localhost", "http://localhost:80", "localhost/x:80", "[::1"} {
		c := config{addr: addr}
		if err := c.check(); err == nil {
			t.Errorf("-addr %q: no error", addr)
		}
	}
}

func TestCheckBackups(t *testing.T) {
	for _, tt := range []struct {
		c    backupConfig
		want string // in the error; "": there is none
	}{
		{backupConfig{"", time.Hour, 24}, ""},
		{backupConfig{"d", time.Second, 1}, ""},
		{backupConfig{"", time.Minute, 24}, "need -backup-dir"},
		{backupConfig{"", time.Hour, 3}, "need -backup-dir"},
		{backupConfig{"d", time.Second - 1, 1}, "-backup-every: must be at least 1s"},
		{backupConfig{"d", time.Hour, 0}, "-backup-keep: must be at least 1"},
	} {
		if err := tt.c.check(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.want)
		}
	}
}
