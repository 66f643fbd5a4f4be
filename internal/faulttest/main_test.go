//go:build linux

package faulttest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	full = flag.Bool("full", false, "run the long form of the tests")
	seed = flag.Uint64("seed", 1, "what chance follows from")
)

// TestMain also is the process that writes to a store; see writer_test.go.
func TestMain(m *testing.M) {
	if path := os.Getenv("FAULTTEST_WRITE"); path != "" {
		os.Exit(write(path))
	}
	flag.Parse()
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// times returns how often to do what a test does, and says by what seed.
func times(t *testing.T, short, long int) (int, *rand.Rand) {
	t.Helper()
	n := short
	if *full {
		n = long
	}
	t.Logf("%d times, -seed %d", n, *seed)
	return n, rand.New(rand.NewPCG(*seed, 0))
}

// lacking skips the test because of what the machine lacks, but not in CI,
// which is set up to have it.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("this needs ", what)
	}
	t.Skip("this needs ", what)
}

func needStrace(t *testing.T) {
	t.Helper()
	if err := exec.Command("strace", "-o", "/dev/null", "true").Run(); err != nil {
		lacking(t, fmt.Sprint("strace, and leave to use it: ", err))
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		lacking(t, "root")
	}
}

// built is the reference server's executable, made when it is first needed.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func serverBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "faulttest"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "refserver"), "example.com/animalstore/cmd/refserver").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "refserver")
}
