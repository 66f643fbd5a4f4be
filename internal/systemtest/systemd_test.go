package systemtest

import (
	"net"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
)

// TestSystemdPassesSocket: the server serves on the socket that a program of
// systemd passes to it.
func TestSystemdPassesSocket(t *testing.T) {
	activate := process.Tool(t, "systemd-socket-activate")
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.sock")
	p, err := process.Start(process.Command(dir, activate, "--listen="+path, exe, "-addr=127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	// The first connection starts the server, which takes the place of p.
	err = p.Until("it listens", func() bool {
		conn, err := net.Dial("unix", path)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Serving(); err != nil || a.Socket != path {
		t.Errorf("it serves on %+v, want %s (%v)", a, path, err)
	}
}
