package process

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
)

// FreeAddress tries one port after the other from firstPort. Other processes begin
// elsewhere.
var (
	firstPort = rand.Uint32N(12_000)
	tried     atomic.Uint32
)

// FreeAddress returns a free loopback address, each time another one. Its port is
// not one of those that the system assigns to outgoing connections, so the address
// is still free when a process is restarted.
func FreeAddress() string {
	for {
		addr := fmt.Sprint("127.0.0.1:", 20_000+(firstPort+tried.Add(1))%12_000)
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			return addr
		}
	}
}

// Eventually waits until ok returns nil, and returns how long that took. It fails
// the test after [Patience].
func Eventually(t testing.TB, what string, ok func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := ok()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > Patience {
			t.Fatalf("%s: timed out: %v", what, err)
		}
	}
}

// ReadFile returns what is in a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// WriteFile writes a file that only the user can read.
func WriteFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Tool returns the path of a program that a test needs. Where it is not
// installed, the test is skipped, or fails in CI.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	return path
}
