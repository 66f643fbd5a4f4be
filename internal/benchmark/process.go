package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"example.com/animalstore/internal/subprocess"
)

// server is a running reference server.
type server struct {
	*subprocess.Process
	subprocess.Addresses
	key string
}

// serve starts the reference server on the store at path, with its defaults
// but for a free port and what args say.
func (b *bench) serve(path string, args ...string) (*server, error) {
	exe, err := b.build()
	if err != nil {
		return nil, err
	}
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	// Load makes a store without a key file, and the server refuses to start
	// with only one of the two.
	create := exec.CommandContext(b.ctx, exe, "keys", "create", "benchmark")
	create.Dir = dir
	create.Env = subprocess.Environ()
	key, err := create.Output()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	cmd := exec.CommandContext(b.ctx, exe, append([]string{"-addr=127.0.0.1:0", "-db=" + path}, args...)...)
	cmd.Dir = dir
	cmd.Env = subprocess.Environ()
	s := &server{key: strings.TrimSpace(string(key))}
	if s.Process, err = subprocess.Start(cmd); err != nil {
		return nil, err
	}
	if s.Addresses, err = s.Serving(); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// stop ends the server in good order.
func (s *server) stop() error {
	defer s.Kill()
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	code, err := s.Wait()
	if err == nil && code != 0 {
		err = fmt.Errorf("the reference server ended with %d: %s", code, s.Tail())
	}
	return err
}

// ticksPerSecond is the unit of the times in /proc, the same on every Linux
// that Go runs on.
const ticksPerSecond = 100

// processTime returns the processor time that a process has used, in seconds;
// 0 where the system has no /proc.
func processTime(pid int) float64 {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// The name of the program, in brackets, may hold anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticksPerSecond
}

// threadTime returns the processor time that the calling thread has used, in
// seconds; 0 where the system does not tell.
func threadTime() float64 {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0
	}
	ns, _, _ := strings.Cut(string(b), " ")
	v, _ := strconv.ParseFloat(ns, 64)
	return v / 1e9
}

// processMemory returns how many bytes of a process are in memory: those that
// are its own, and all, pages of the files that it maps among them.
func processMemory(pid int) (own, all float64, err error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, 0, err
	}
	kilobytes := func(name string) float64 {
		_, rest, _ := strings.Cut(string(b), "\n"+name+":")
		value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		n, _ := strconv.ParseFloat(value, 64)
		return n * 1024
	}
	own, all = kilobytes("RssAnon"), kilobytes("VmRSS")
	if own == 0 {
		err = errors.New("the system does not tell how much memory is a process's own")
	}
	return own, all, err
}
