package benchmark

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

var (
	rounds  = flag.Int("rounds", 1, "`number` of times to measure each server")
	largest = flag.Int64("pets", 10_000, "`number` of pets in the large file, which takes about 150 bytes each in $TMPDIR")
	servers []string // paths of refservers
)

// TestMain makes the test binary a bare server too.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == bareCommand {
		fmt.Fprintln(os.Stderr, "bare:", runBare(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	flag.Func("server", "absolute `path` of a refserver to measure instead of one built from this module; can be repeated", func(path string) error {
		servers = append(servers, path)
		return nil
	})
	os.Exit(process.Main(m))
}

// Every benchmark can be run.
func TestBenchmarks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	cmd := process.Command("", os.Args[0], "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-pets=2000")
	code, stdout, stderr := process.Run(t, cmd)
	if lines := strings.Count(stdout, " ns/op"); code != 0 || lines != 3*len(requests)+1 || strings.Contains(stdout, "NaN") {
		t.Errorf("exit code %d, %d results, want %d, and no NaN:\n%s%s", code, lines, 3*len(requests)+1, stdout, stderr)
	}
}
