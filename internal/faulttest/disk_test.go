//go:build linux

package faulttest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mount mounts a file system in memory of that size at a new directory.
func mount(t *testing.T, options string) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		lacking(t, fmt.Sprint("leave to mount: ", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestDiskFull fills the disk under the server at many points, and makes room
// again.
func TestDiskFull(t *testing.T) {
	rounds, random := times(t, 2, 60)
	dir := mount(t, "size=40m,mode=700")
	filler := filepath.Join(dir, "filler")
	s := start(t, dir)
	name := func(i int) string { return fmt.Sprint("pet-", i, strings.Repeat("x", 20_000)) }
	create := func(i int) int {
		a, err := s.send(http.DefaultClient, "POST", "/pets", petBody(name(i)), "Idempotency-Key", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		if a.status == http.StatusInsufficientStorage && !strings.HasSuffix(a.body, `"status":507}`) {
			t.Errorf("no Error body: %s", a.body)
		}
		return a.status
	}
	s.must(http.StatusCreated, "POST", "/pets", petBody(name(0)))
	next, refused := 1, 0
	for round := range rounds {
		// All but a little of the disk goes to another file.
		var st syscall.Statfs_t
		if err := syscall.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		left := int64(st.Bavail)*st.Bsize - int64(random.IntN(40))*4096
		if err := os.WriteFile(filler, make([]byte, max(0, left)), 0o600); err != nil {
			t.Fatal(err)
		}
		for status := 0; status != http.StatusInsufficientStorage; next++ {
			if status = create(next); status != http.StatusCreated && status != http.StatusInsufficientStorage {
				t.Fatalf("round %d: status %d", round, status)
			}
			if next > 5000 {
				t.Fatal("the disk does not fill")
			}
		}
		refused++
		next--
		s.must(http.StatusOK, "GET", "/pets/1", "")
		s.must(http.StatusOK, "GET", "/pets?status=available&limit=1", "")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if status := create(next); status != http.StatusCreated {
			t.Fatalf("round %d: status %d when there is room again", round, status)
		}
		next++
		if round%2 == 1 { // the next start works too, from a full disk
			s.stop()
			s = start(t, dir)
		}
	}
	for i := range next {
		a := s.must(http.StatusOK, "GET", fmt.Sprint("/pets/", i+1), "")
		if !strings.Contains(a.body, `"pet-`+fmt.Sprint(i)+"x") {
			t.Fatalf("the pet %d: %.100s", i+1, a.body)
		}
	}
	t.Logf("%d times full, %d pets stored and found", refused, next)
}

// TestDiskFullWhileMade starts servers on disks that are full from the start,
// by a little more room each time.
func TestDiskFullWhileMade(t *testing.T) {
	most, _ := times(t, 6, 24)
	made := 0
	for n := range most {
		kB := 4 + 8*n
		dir := mount(t, fmt.Sprintf("size=%dk,mode=700", kB))
		s, err := launch(t, dir)
		if err == nil {
			made++
			s.stop()
			continue
		}
		if code, line := s.wait(), s.Stderr.String(); code != 1 || strings.Count(line, "\n") != 1 || !strings.Contains(line, "no space left on device") {
			t.Errorf("with %d kB: exit code %d, %q", kB, code, line)
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=40m"); err != nil {
			t.Fatal(err)
		}
		s = start(t, dir)
		s.must(http.StatusCreated, "POST", "/pets", petBody("Rex"))
		s.stop()
	}
	if made == most {
		t.Error("no disk was too small")
	}
}

// TestRefusals starts servers where they cannot work. Each has to say so in
// one line, soon.
func TestRefusals(t *testing.T) {
	needRoot(t)
	running := start(t, t.TempDir())
	running.must(http.StatusCreated, "POST", "/pets", petBody("Rex"))
	sound := readFile(t, running.db())
	tests := []struct {
		name string
		make func(t *testing.T, dir string) (string, *syscall.Credential)
		says string
	}{
		{"a file in use", func(*testing.T, string) (string, *syscall.Credential) { return running.db(), nil }, "in use by another process"},
		{"a file of another program", func(t *testing.T, dir string) (string, *syscall.Credential) {
			return writeFile(t, dir, []byte(strings.Repeat("hello ", 5000))), nil
		}, "not a petstore"},
		{"an empty file", func(t *testing.T, dir string) (string, *syscall.Credential) { return writeFile(t, dir, nil), nil }, "is empty"},
		{"a file cut short", func(t *testing.T, dir string) (string, *syscall.Credential) {
			return writeFile(t, dir, sound[:20_000]), nil
		}, "cut short"},
		{"a damaged file", func(t *testing.T, dir string) (string, *syscall.Credential) {
			b := bytes.Clone(sound)
			clear(b[2*page : 8*page])
			return writeFile(t, dir, b), nil
		}, "restore it from a backup"},
		{"a directory", func(_ *testing.T, dir string) (string, *syscall.Credential) { return dir, nil }, "is a directory"},
		{"no leave to read", func(t *testing.T, dir string) (string, *syscall.Credential) {
			open(t, dir)
			return writeFile(t, dir, sound), &syscall.Credential{Uid: 65534, Gid: 65534}
		}, "permission denied"},
		{"a disk that is not to be written to", func(t *testing.T, _ string) (string, *syscall.Credential) {
			dir := mount(t, "size=20m")
			path := writeFile(t, dir, sound)
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			return path, nil
		}, "read-only file system"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			work, err := os.MkdirTemp("/tmp", "faulttest") // where nobody may be
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(work)
			path, as := tt.make(t, work)
			binary := filepath.Join(work, "refserver")
			if err := os.Link(serverBinary(t), binary); err != nil {
				if err := os.WriteFile(binary, readFile(t, serverBinary(t)), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(binary, "-addr=127.0.0.1:0", "-db="+path)
			cmd.Dir = work
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			stop.Stop()
			took := time.Since(began)
			line := stderr.String()
			if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(line, "\n") != 1 || !strings.Contains(line, tt.says) || !strings.Contains(line, path) {
				t.Errorf("exit code %d, %q; want one line with %q and the file's name", code, line, tt.says)
			}
			t.Logf("after %v: %s", took.Round(time.Millisecond), line)
			if *full && took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func open(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, dir string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, "pets.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
