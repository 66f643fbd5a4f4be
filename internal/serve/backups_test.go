package serve

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/storage"
)

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

// If there is too little space, the oldest backups are removed, but not the last one, nor
// what is not a backup.
func TestMakeRoom(t *testing.T) {
	if freeSpace(".") == math.MaxInt64 {
		t.Skip("free space is not known on this system")
	}
	dir := t.TempDir()
	names := []string{"20261125T090000.000Z", "20261125T100000.000Z", "20261125T110000.000Z", "other"}
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	huge, err := os.Create(filepath.Join(t.TempDir(), "huge"))
	if err != nil {
		t.Fatal(err)
	}
	defer huge.Close()
	if err := huge.Truncate(1 << 43); err != nil {
		t.Skip(err)
	}
	b := &backups{server: &server{config: &config{backup: backupConfig{dir: dir}}, store: &Store{File: &storage.Info{Path: huge.Name()}}}}
	if err := b.makeRoom(); err == nil || !strings.Contains(err.Error(), "too little space: ") {
		t.Errorf("the error is %v", err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, names[2:]) {
		t.Errorf("%q are left, want %q", left, names[2:])
	}
}
