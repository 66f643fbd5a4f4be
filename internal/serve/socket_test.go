package serve

import (
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// If several servers start at the same time where a killed one left its socket,
// exactly one listens, and clients reach it.
func TestListenAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no lock on directories")
	}
	path := filepath.Join(t.TempDir(), "pets.sock")
	for range 200 {
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		left.SetUnlinkOnClose(false)
		left.Close()

		var listeners [4]net.Listener
		var wg sync.WaitGroup
		for i := range listeners {
			wg.Go(func() { listeners[i], _ = listenAt("unix:" + path) })
		}
		wg.Wait()
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		listening := 0
		for _, ln := range listeners {
			if ln != nil {
				listening++
				ln.Close()
			}
		}
		if listening != 1 {
			t.Fatalf("%d servers listen", listening)
		}
	}
}
