//go:build linux

package faulttest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"example.com/animalstore/internal/process"
)

var (
	full = flag.Bool("full", false, "run the long form of the tests")
	idle = flag.Bool("idle", false, "the machine does nothing else: fail by times and rates too")
	seed = flag.Uint64("seed", 1, "`number` that randomness comes from")
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the parallel tests spend their time waiting
	os.Exit(process.Main(m))
}

// parallel lets a test run beside others, unless it must measure times.
func parallel(t *testing.T) {
	if !*idle {
		t.Parallel()
	}
}

// rounds returns how often to repeat what a test does, and its randomness.
func rounds(short, long int) (int, *rand.Rand) {
	n := short
	if *full {
		n = long
	}
	return n, rand.New(rand.NewPCG(*seed, 0))
}

// report logs what the test has done, in the form that .ci/run collects.
func report(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("fault: %s: %s", t.Name(), fmt.Sprintf(format, args...))
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

// remount changes the options of a file system of mount.
func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
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
