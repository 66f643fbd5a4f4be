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
// disk is full at times, and it is killed. Each file with the name of a backup must be
// imported, and hold everything that was acknowledged before it was begun, also the outcomes
// of idempotency keys. There is a copy of the key file.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	const keep = 3
	n, random := rounds(2, 16)
	dir, h := mount(t, "size=200m,mode=700"), history.New()
	restored, refused, repeated := map[string]bool{}, 0, 0
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

		all, err := filepath.Glob(filepath.Join(dir, "petstore-2*.gz"))
		if err != nil || len(all) == 0 || len(all) > keep+1 {
			t.Errorf("round %d: the backups are %q, %v", round, all, err)
		}
		for _, path := range all {
			if restored[path] {
				continue
			}
			restored[path] = true
			began, err := time.Parse("petstore-20060102T150405.000Z.jsonl.gz", filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			to, at := t.TempDir(), h.At(began)
			mustRun(t, to, "import", path)
			process.WriteFile(t, filepath.Join(to, "petstore.keys"), process.ReadFile(t, filepath.Join(dir, "backup.keys")))
			r := start(t, to)
			for _, req := range at.Repeatable() {
				if _, err := at.Do(t.Context(), r.Client, r.URL, s.Key, req); err != nil {
					t.Fatal(err)
				}
				repeated++
			}
			r.Stop()
			check(t, path, filepath.Join(to, "petstore.db"), at, math.MaxInt32)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "petstore-*.part")); len(left) > 1 {
		t.Errorf("what was begun is still there: %q", left)
	}
	t.Logf("%d kills, %d times 507, %d backups restored, %d acknowledged, %d repeated", n, refused, len(restored), h.Acknowledged(), repeated)
}
