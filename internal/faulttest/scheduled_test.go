//go:build linux

package faulttest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/serve"
)

// TestScheduledBackups lets a server make a backup every second while clients write, its
// disk is full at times, and it is killed. Whatever has the name of a backup must be
// restored, with the keys, and hold everything that was acknowledged before it was begun.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	const keep = 3
	n, random := rounds(2, 16)
	dir, to := mount(t, "size=400m,mode=700"), t.TempDir()
	backups := filepath.Join(dir, "backups")
	if err := os.Mkdir(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	acked := newLedger()
	at := map[string]time.Time{} // when it was known that it was acknowledged, by ID
	restored, refused := map[string]bool{}, 0
	for round := range n {
		s := start(t, dir, "env", "PETSTORE_BACKUP_DIR="+backups, "PETSTORE_BACKUP_EVERY=1s", fmt.Sprint("PETSTORE_BACKUP_KEEP=", keep))
		l := s.newLoad()
		l.names = acked.names
		l.request = func(name string) string { time.Sleep(30 * time.Millisecond); return s.write(name) }
		l.start(4, fmt.Sprint("r", round))
		l.untilGood()
		know := func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			for id := range l.names {
				at[id] = cmp.Or(at[id], time.Now())
			}
			if all, err := serve.Backups(backups); err != nil || len(all) > keep+1 {
				t.Errorf("%d backups are kept (%v)", len(all), err)
			}
		}
		filler, full := filepath.Join(dir, "filler"), round%2 == 1
		if full {
			_ = os.WriteFile(filler, make([]byte, space(t, dir)), 0o600)
		}
		for end := time.Now().Add(2*time.Second + time.Duration(random.IntN(2000))*time.Millisecond); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			know()
			if full && time.Until(end) < 2*time.Second {
				_ = os.Remove(filler)
				full = false
			}
		}
		s.Kill()
		l.wg.Wait()
		_ = os.Remove(filler)
		refused += l.status[507]

		all, err := serve.Backups(backups)
		if err != nil || len(all) == 0 || len(all) > keep+1 {
			t.Errorf("round %d: the backups are %q, %v", round, all, err)
		}
		for i, path := range all {
			if restored[path] && i < len(all)-1 {
				continue
			}
			restored[path] = true
			began, err := time.Parse("20060102T150405.000Z", filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			want := ledger{names: maps.Clone(acked.names)}
			maps.DeleteFunc(want.names, func(id, _ string) bool { return at[id].IsZero() || !at[id].Before(began) })
			db, keys := filepath.Join(to, "petstore.db"), filepath.Join(to, "petstore.keys")
			_ = os.Remove(keys)
			mustRun(t, "restore", "-db="+db, "-keys="+keys, path)
			want.check(t, path, db)
			if got := process.ReadFile(t, keys); string(got) != string(process.ReadFile(t, s.Path("petstore.keys"))) {
				t.Errorf("%s has the keys\n%s", path, got)
			}
			old, _ := filepath.Glob(db + ".replaced-*")
			for _, path := range append(old, db) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d kills, %d times 507, %d backups restored, %d acknowledged", n, refused, len(restored), len(acked.names))
}
