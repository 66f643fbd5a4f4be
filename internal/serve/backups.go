package serve

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/apikey"
)

// A backup is a folder in -backup-dir with these two files. Its name is the time when it
// was begun. While it is made or removed, it has another name.
const (
	BackupStore = "petstore.db"
	BackupKeys  = "petstore.keys"
	backupName  = "20060102T150405.000Z"
	partPrefix  = ".part-"
)

// Backups returns the paths of the backups in dir, the newest last.
func Backups(dir string) (paths []string, err error) {
	return find(dir, func(name string) bool { return !backupTime(name).IsZero() })
}

// find returns the paths of what is in dir and has a name that is wanted, in the order of
// the names.
func find(dir string, wanted func(name string) bool) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if wanted(e.Name()) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// backupTime returns when a backup was begun; zero: path is not a backup.
func backupTime(path string) time.Time {
	name := filepath.Base(path)
	t, err := time.Parse(backupName, name)
	if err != nil || t.Format(backupName) != name { // Parse also accepts a comma
		return time.Time{}
	}
	return t
}

// backupConfig is the flags of backups.
type backupConfig struct {
	dir   string // "": none are made
	every time.Duration
	keep  int
}

const (
	defaultEvery = time.Hour
	defaultKeep  = 24
)

func (c *backupConfig) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.dir, "backup-dir", "", "`folder` for backups of the store and the key file, for this server alone and on another disk if possible; empty: none are made")
	fs.DurationVar(&c.every, "backup-every", defaultEvery, "`duration` from one backup to the next")
	fs.IntVar(&c.keep, "backup-keep", defaultKeep, "`number` of backups to keep; older ones are removed")
}

func (c *backupConfig) check() error {
	switch {
	case c.dir == "" && (c.every != defaultEvery || c.keep != defaultKeep):
		return flags.Usagef("-backup-every and -backup-keep: need -backup-dir")
	case c.every < time.Second:
		return flags.Usagef("-backup-every: must be at least 1s, got %v", c.every)
	case c.keep < 1:
		return flags.Usagef("-backup-keep: must be at least 1, got %d", c.keep)
	}
	return nil
}

// backups makes backups while the server serves.
type backups struct {
	*server
	failed atomic.Bool // the last one
}

// newest returns when the newest backup was begun; zero: there is none.
func (b *backups) newest() time.Time {
	all, _ := Backups(b.backup.dir)
	if len(all) == 0 {
		return time.Time{}
	}
	return backupTime(all[len(all)-1])
}

// run makes backups until ctx ends. The first is due when the newest that is there is
// old enough, so restarts neither delay nor multiply them.
func (b *backups) run(ctx context.Context) {
	last := b.newest()
	for {
		wait := time.Until(last.Add(b.backup.every))
		if wait > b.backup.every { // the clock was set back
			wait = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		last = time.Now()
		err := b.make(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			b.log.Error("a backup failed; the next try follows", "backup-dir", b.backup.dir, "err", err)
		}
		b.failed.Store(err != nil)
	}
}

// make makes a backup, whole or not at all, and removes old ones.
func (b *backups) make(ctx context.Context) error {
	dir, began := b.backup.dir, time.Now().UTC()
	if newest := b.newest(); !began.After(newest) { // the clock was set back: the new name must be the last
		began = newest.Add(time.Millisecond)
	}
	parts, err := find(dir, func(name string) bool { return strings.HasPrefix(name, partPrefix) })
	for _, path := range parts { // of a server that was killed
		_ = os.RemoveAll(path)
	}
	if err != nil {
		return err
	}
	part, err := os.MkdirTemp(dir, partPrefix) // mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := apikey.Copy(filepath.Join(part, BackupKeys), b.keyFile); err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	if err := b.store.SaveTo(ctx, filepath.Join(part, BackupStore)); err != nil { // and syncs the folder
		return err
	}
	if err := os.Rename(part, filepath.Join(dir, began.Format(backupName))); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	all, err := Backups(dir)
	for len(all) > b.backup.keep && err == nil {
		err, all = removeBackup(all[0]), all[1:]
	}
	return err
}

// removeBackup removes a backup. It takes its name away first: after a crash, part of it
// must not look like a backup.
func removeBackup(path string) error {
	part := filepath.Join(filepath.Dir(path), partPrefix+filepath.Base(path))
	if err := os.Rename(path, part); err != nil {
		return err
	}
	return os.RemoveAll(part)
}

// syncDir makes the names in a folder durable. Windows has no such call.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// write writes the metrics of backups.
func (b *backups) write(t *text) {
	if newest := b.newest(); !newest.IsZero() {
		t.single("petstore_backup_age_seconds", "gauge", "Time since the newest backup in -backup-dir was begun. Missing if there is none.", time.Since(newest).Seconds())
	}
	failed := 0.0
	if b.failed.Load() {
		failed = 1
	}
	t.single("petstore_backup_failed", "gauge", "1 if the last try to make a backup failed, otherwise 0.", failed)
}
