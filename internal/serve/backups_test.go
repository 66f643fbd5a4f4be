package serve

import (
	"errors"
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

// If there is too little space, old backups are removed, but only if that helps.
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
	const size = 1 << 43 // of a sparse file
	sparse := func(path string) {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Skip(err)
		}
	}
	store := filepath.Join(t.TempDir(), "store")
	sparse(store)
	b := &backups{server: &server{config: &config{backup: backupConfig{dir: dir}}, store: &Store{File: &storage.Info{Path: store}}}}
	left := func(want ...string) {
		t.Helper()
		var got []string
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q are left, want %q", got, want)
		}
	}
	if err := b.makeRoom(); err == nil || !strings.Contains(err.Error(), "too little space: ") {
		t.Errorf("the error is %v", err)
	}
	left(names...)
	for _, name := range names {
		sparse(filepath.Join(dir, name, BackupStore))
	}
	if err := b.makeRoom(); err != nil {
		t.Error(err)
	}
	left(names[2:]...)
}
