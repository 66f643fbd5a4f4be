//go:build linux

package faulttest

import (
	"flag"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	_ "example.com/animalstore/internal/serve" // for the go command: a changed server needs another run
	"example.com/animalstore/internal/test/process"
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

// mount mounts a file system in memory at a new directory.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("this needs permission to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
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
