package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a server may take to start and to end.
const patience = 30 * time.Second

// server is a running reference server.
type server struct {
	cmd    *exec.Cmd
	stderr output
	done   chan struct{}
	url    string // with the base path
	admin  string // the admin address; "": it has none
	key    string
}

// output is what a process has written so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

var (
	urlForm   = regexp.MustCompile(`msg=serving url=(\S+)`)
	adminForm = regexp.MustCompile(`msg=serving .*admin=http://(\S+)`)
	keyForm   = regexp.MustCompile(`petstore_[a-z2-7]+`)
)

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
	var stdout output
	s := &server{done: make(chan struct{})}
	s.cmd = exec.CommandContext(b.ctx, exe, append([]string{"-addr=127.0.0.1:0", "-db=" + path}, args...)...)
	s.cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PETSTORE_") { // those are flags too
			s.cmd.Env = append(s.cmd.Env, v)
		}
	}
	s.cmd.Stdout, s.cmd.Stderr = &stdout, &s.stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // its log says why
	}()
	for end := time.Now().Add(patience); s.url == ""; time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.done:
			return nil, fmt.Errorf("the reference server has ended: %s", s.stderr.String())
		default:
		}
		if time.Now().After(end) {
			s.kill()
			return nil, errors.New("the reference server does not start")
		}
		if m := urlForm.FindStringSubmatch(s.stderr.String()); m != nil {
			s.url = m[1]
		}
	}
	if m := adminForm.FindStringSubmatch(s.stderr.String()); m != nil {
		s.admin = m[1]
	}
	if s.key = keyForm.FindString(stdout.String()); s.key == "" {
		s.kill()
		return nil, errors.New("the reference server has printed no key")
	}
	return s, nil
}

// stop ends the server in good order.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.kill()
		return err
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		s.kill()
		return errors.New("the reference server does not end")
	}
	if !s.cmd.ProcessState.Success() {
		return fmt.Errorf("the reference server ended badly: %s", s.stderr.String())
	}
	return nil
}

// kill ends the server without a chance to do anything about it.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

func (s *server) pid() int { return s.cmd.Process.Pid }

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
