//go:build linux

package faulttest

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

var (
	full = flag.Bool("full", false, "run the long form of the tests")
	seed = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the parallel tests spend their time waiting
	os.Exit(process.Main(m))
}

// rounds returns how often to repeat what a test does, and its randomness.
func rounds(short, long int) (int, *rand.Rand) {
	n := short
	if *full {
		n = long
	}
	return n, rand.New(rand.NewPCG(*seed, 0))
}

// missing skips the test because the machine lacks something. In CI it fails.
func missing(t *testing.T, what string, reason any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("this needs %s: %v", what, reason)
	}
	t.Skipf("this needs %s: %v", what, reason)
}

func needStrace(t *testing.T) {
	t.Helper()
	if err := exec.Command("strace", "-o", "/dev/null", "true").Run(); err != nil {
		missing(t, "strace and permission to use it", err)
	}
}

// mount mounts a file system in memory at a new directory.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		missing(t, "permission to mount", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// space returns the bytes that are free on a file system.
func space(t *testing.T, dir string) int {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Bavail) * int(st.Bsize)
}

// allowFiles lets this process and its children have n open files.
func allowFiles(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur >= n {
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: max(n, limit.Max)}); err != nil {
		missing(t, "more open files", err)
	}
}
