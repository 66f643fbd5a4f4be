//go:build unix

package apikey

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// A limit on the size of files makes writing fail in the middle of a line, as a full
// disk may. The limit holds for a whole process, so the test has one of its own.
func TestFullDisk(t *testing.T) {
	const limit = 60 // of bytes in a file, less than a line has
	if path := os.Getenv("APIKEY_TEST_FULL"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) // go test -cover writes a longer file
		_, _, err := Create(path, "alice")
		wantError(t, err, path, "file too large")
		return
	}
	full, fresh := filepath.Join(t.TempDir(), "test.keys"), filepath.Join(t.TempDir(), "new.keys")
	before := strings.Repeat("#", limit-20) + "\n"
	process.WriteFile(t, full, []byte(before))
	for _, path := range []string{full, fresh} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
		cmd.Env = append(os.Environ(), "APIKEY_TEST_FULL="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	wantFile(t, full, before)
	wantFile(t, fresh, "") // which counts as missing
}
