//go:build linux

package faulttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/process"
)

// TestRefusedFiles starts servers on files that they cannot serve. Each must
// say so at once in one line that names the file.
func TestRefusedFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		missing(t, "root", "this is another user")
	}
	parallel(t)
	running := start(t, t.TempDir())
	running.create("Rex")
	sound := process.ReadFile(t, running.db())
	damaged := bytes.Clone(sound)
	clear(damaged[2*page : 8*page])
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	tests := []struct {
		name string
		file []byte // of the store
		path string // of the store, if not of that file
		as   *syscall.Credential
		want string
	}{
		{"in use", nil, running.db(), nil, "in use by another process; stop that one first, or choose another file with -db"},
		{"of another program", []byte(strings.Repeat("hello ", 5000)), "", nil, "is not a petstore; choose another file with -db"},
		{"empty", []byte{}, "", nil, "is empty"},
		{"cut short", sound[:20_000], "", nil, "cut short"},
		{"damaged", damaged, "", nil, "restore it from a backup"},
		{"directory", nil, "/sys", nil, "is a directory"},
		{"without permission to read", sound, "", nobody, "permission denied"},
		{"new, in a directory without permission to write", nil, "new.db", nobody, "permission denied"},
		{"on a read-only file system", nil, "read-only", nil, "read-only file system"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("/tmp", "faulttest") // the test's own is closed to other users
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "pets.db")
			switch {
			case tt.file != nil:
				process.WriteFile(t, path, tt.file)
			case tt.path == "read-only":
				mounted := mount(t, "size=20m")
				path = filepath.Join(mounted, "pets.db")
				process.WriteFile(t, path, sound)
				remount(t, mounted, syscall.MS_RDONLY, "")
			case filepath.IsAbs(tt.path):
				path = tt.path
			default:
				path = filepath.Join(dir, tt.path)
			}
			exe := filepath.Join(dir, "refserver")
			// Not by this process: a child of another test could have it open for writing.
			if out, err := exec.Command("cp", process.Build(t, refserver), exe).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			cmd := process.Command(dir, exe, "-addr=127.0.0.1:0", "-db="+path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: tt.as}
			began := time.Now()
			code, _, stderr := process.Run(t, cmd)
			// A new file has a temporary name, which has its own in it.
			folder, name := filepath.Split(path)
			if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, folder) || !strings.Contains(stderr, name) {
				t.Errorf("exit code %d, %q; want 1 and one line with %q and %s", code, stderr, tt.want, path)
			}
			if took := time.Since(began); *idle && took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	report(t, "%d files refused", len(tests))
}
