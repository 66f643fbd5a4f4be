//go:build linux

package faulttest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// TestBackupUnderLoad makes backups while clients write. Each must be sound and
// have everything that was acknowledged before it began; the last one must
// serve in the place of the store.
func TestBackupUnderLoad(t *testing.T) {
	parallel(t)
	n, _ := rounds(2, 30)
	dir := t.TempDir()
	s := start(t, dir)
	l := s.newLoad()
	l.start(64, "b")
	var sizes []int64
	for round := range n {
		l.untilGood()
		l.mu.Lock()
		want := ledger{names: maps.Clone(l.names)}
		l.mu.Unlock()
		path := fmt.Sprintf("%s/copy-%d.db", dir, round)
		if err := s.download(path); err != nil {
			t.Fatal(err)
		}
		mustRun(t, "check", path)
		_, stats := want.check(t, path, path)
		sizes = append(sizes, stats.Pets)
	}
	l.end()
	if l.others(201, 202) > 0 {
		t.Errorf("%d writes without a response; responses by status: %v", len(l.unsure), l.status)
	}
	s.Stop()
	if err := os.Rename(fmt.Sprintf("%s/copy-%d.db", dir, n-1), s.db()); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	if got := int64(s.Metric("petstore_pets")); got != sizes[n-1]+later {
		t.Errorf("the restored store has %d pets, and the backup %d", got, sizes[n-1]+later)
	}
	s.create("after")
	s.Stop()
	report(t, "%d backups under load, of %d to %d pets, 0 acknowledged pets missing", n, sizes[0], sizes[n-1])
}

// download makes a file of what GET /backup returns.
func (s *server) download(path string) error {
	resp, err := http.Get(s.Admin + "/backup")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s", resp.Status, b)
	}
	return cmp.Or(err, os.WriteFile(path, b, 0o600))
}

// TestStoppedBackup: a client that stops reading its backup is disconnected,
// which frees the disk space and lets others make a backup. A client that reads
// slowly, for longer than that time limit, gets the whole backup.
func TestStoppedBackup(t *testing.T) {
	parallel(t)
	dir, slowDir := t.TempDir(), t.TempDir() // two servers, so that both clients wait at the same time
	start(t, slowDir).Stop()
	s := start(t, dir)
	s.Stop()
	store, err := storage.Open(s.db(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const megabytes = 60 // far more than the buffers of a connection hold
	pet := petstore.NewPet{Name: strings.Repeat("x", 1<<20)}
	_, err = store.Load(t.Context(), func(yield func(petstore.NewPet) bool) {
		for i := 0; i < megabytes && yield(pet); i++ {
		}
	})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	process.WriteFile(t, slowDir+"/petstore.db", process.ReadFile(t, s.db()))
	get := func(s *server) *http.Response {
		resp, err := http.Get(s.Admin + "/backup")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET /backup: %v, %v", resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	var received int64
	done := make(chan struct{})
	slow := get(start(t, slowDir))
	go func() {
		defer close(done)
		for range 55 { // 11 seconds
			more, _ := io.CopyN(io.Discard, slow.Body, 1<<20)
			received += more
			time.Sleep(200 * time.Millisecond)
		}
		more, err := io.Copy(io.Discard, slow.Body)
		if received += more; err != nil || received != slow.ContentLength {
			t.Errorf("the slow client received %d of %d bytes: %v", received, slow.ContentLength, err)
		}
	}()

	s = start(t, dir)
	stopped := get(s)
	s.Until("no deleted file is open", func() bool {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(links, func(link string) bool {
			target, _ := os.Readlink(link)
			return strings.HasSuffix(target, "(deleted)")
		})
	})
	s.Until("another backup can be made", func() bool {
		return s.download(dir+"/copy.db") == nil
	})
	rest, err := io.Copy(io.Discard, stopped.Body)
	if err == nil {
		t.Errorf("the stopped client received all %d bytes", rest)
	}
	<-done
	report(t, "1 client that stopped got %d MB of %d, 1 slow client all", rest>>20, slow.ContentLength>>20)
}
