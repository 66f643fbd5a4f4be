package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"example.com/animalstore/internal/flags"
)

// parseAddr reads an address of the form host:port or unix:/path.
func parseAddr(s string) (string, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok && filepath.IsAbs(path) {
		return s, nil
	}
	s, err := flags.HostPort(s)
	if err != nil {
		err = fmt.Errorf("%w, or unix:/path", err)
	}
	return s, err
}

// listenAt listens on an address of parseAddr.
func listenAt(addr string) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, "unix:")
	if !ok {
		return net.Listen("tcp", addr)
	}
	// Between Listen's bind and listen a socket refuses connections. Another server that
	// starts now must not take it for one that a killed process left.
	defer lockDir(filepath.Dir(path))()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	ln, err := net.Listen("unix", path) // Close removes the file
	if err != nil {
		return nil, err
	}
	// Every user can connect, as to a TCP address. Requests need a key.
	if err := os.Chmod(path, 0o666); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// removeStale removes the socket at path, if there is one, unless a process
// listens on it. A process that was killed leaves its socket behind.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("another process listens on %s", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// passedListener returns the listener that systemd has passed to this process,
// or nil if there is none; see sd_listen_fds(3). The sockets of systemd stay
// open when a server ends, so connections wait for the next one.
func passedListener(getenv func(string) string) (net.Listener, error) {
	n := getenv("LISTEN_FDS")
	if n == "" || getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if n != "1" {
		return nil, fmt.Errorf("LISTEN_FDS: the socket unit must have one socket, for -addr, got %s", n)
	}
	f := os.NewFile(3, "the socket of systemd") // SD_LISTEN_FDS_START
	defer f.Close()
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("LISTEN_FDS: %w; the socket unit must have ListenStream and no Accept", err)
	}
	return ln, nil
}
