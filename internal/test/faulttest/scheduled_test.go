//go:build linux

package faulttest

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

// TestScheduledBackups lets a server make a backup every second while clients write, its
// disk is full at times, and it is killed. Each folder with the name of a backup must be
// restored, have the keys, and hold everything that was acknowledged before it was begun.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	const keep = 3
	n, random := rounds(2, 16)
	dir, h := mount(t, "size=400m,mode=700"), history.New()
	restored, refused := map[string]bool{}, 0
	for round := range n {
		s := start(t, dir, "-backup-dir="+dir, "-backup-every=1s", fmt.Sprint("-backup-keep=", keep))
		l := newLoad(t, s, h)
		l.pause = 10 * time.Millisecond
		l.start(4, fmt.Sprint("r", round))
		l.untilGood()
		some := time.Duration(random.IntN(1000)) * time.Millisecond
		if filler := filepath.Join(dir, "filler"); round%2 == 1 {
			_ = os.WriteFile(filler, make([]byte, space(t, dir)), 0o600)
			time.Sleep(some)
			_ = os.Remove(filler)
		}
		time.Sleep(time.Second + some)
		s.Kill()
		l.wg.Wait()
		refused += l.status[http.StatusInsufficientStorage]

		all, err := filepath.Glob(filepath.Join(dir, "2*"))
		if err != nil || len(all) == 0 || len(all) > keep+1 {
			t.Errorf("round %d: the backups are %q, %v", round, all, err)
		}
		for _, path := range all {
			if restored[path] {
				continue
			}
			restored[path] = true
			began, err := time.Parse("20060102T150405.000Z", filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			db := filepath.Join(t.TempDir(), "petstore.db")
			mustRun(t, "", "restore", "-db="+db, filepath.Join(path, "petstore.db"))
			check(t, path, db, h.At(began), math.MaxInt32)
			if got := process.ReadFile(t, filepath.Join(path, "petstore.keys")); string(got) != string(process.ReadFile(t, s.Path("petstore.keys"))) {
				t.Errorf("%s has the keys\n%s", path, got)
			}
		}
	}
	t.Logf("%d kills, %d times 507, %d backups restored, %d acknowledged", n, refused, len(restored), h.Acknowledged())
}
