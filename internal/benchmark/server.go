package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// server is a running server, a refserver or a bare one.
type server struct {
	*process.Process
	name string
	key  string // API key
	addr string // host:port
}

// serve starts a refserver. args name a store, or must be -new-store.
func (b *bench) serve(exe string, args ...string) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, "server-*")
	if err != nil {
		return nil, err
	}
	key, err := b.command(dir, exe, "keys", "create", "benchmark").Output()
	if err != nil {
		return nil, fmt.Errorf("%s keys create: %w", exe, err)
	}
	cmd := b.command(dir, exe, append(args, "-addr=127.0.0.1:0")...)
	return b.start(cmd, strings.TrimPrefix(exe, b.dir+string(filepath.Separator)), strings.TrimSpace(string(key)))
}

// serveFilled starts a refserver on a new store and has it create
// [smallPets] pets, so that servers with different file formats can be
// compared.
func (b *bench) serveFilled(exe string) (*server, error) {
	s, err := b.serve(exe, "-new-store")
	if err != nil {
		return nil, err
	}
	var requests [][]byte
	for p := range newPets(smallPets) {
		requests = append(requests, s.create(p))
	}
	_, err = s.send(64, requests, 0)
	return s, err
}

// serveFile starts the first refserver on the file with n pets.
func (b *bench) serveFile(n int64) (*server, error) {
	path, err := b.file(n)
	if err != nil {
		return nil, err
	}
	return b.serve(b.servers[0], "-db="+path)
}

// serveBare starts a bare server that responds to a request as s does.
func (b *bench) serveBare(s *server, request func(*server) []byte, commit string) (*server, error) {
	want, err := s.exchange(request(s))
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := b.command(b.dir, self, bareCommand, s.key, commit)
	cmd.Stdin = bytes.NewReader(want)
	bare, err := b.start(cmd, "bare", s.key)
	if err != nil {
		return nil, err
	}
	got, err := bare.exchange(request(bare))
	varying := regexp.MustCompile(`(?m)^(Date|X-Request-Id): .*$`)
	if err == nil && !bytes.Equal(varying.ReplaceAll(got, nil), varying.ReplaceAll(want, nil)) {
		err = fmt.Errorf("the bare server must return %q, got %q", want, got)
	}
	return bare, err
}

func (b *bench) command(dir, exe string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, exe, args...)
	cmd.Dir, cmd.Env = dir, process.Environ()
	return cmd
}

func (b *bench) start(cmd *exec.Cmd, name, key string) (*server, error) {
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	s := &server{Process: p, name: name, key: key}
	b.running = append(b.running, s)
	addresses, err := p.Serving()
	s.addr = strings.TrimSuffix(strings.TrimPrefix(addresses.URL, "http://"), "/v1")
	return s, err
}

// stop ends all servers.
func (b *bench) stop() {
	for _, s := range b.running {
		if s.Signal(syscall.SIGTERM) == nil {
			_, _ = s.Wait()
		}
		s.Kill()
	}
	b.running = nil
}

// get returns a request as it is sent.
func (s *server) get(path string) []byte {
	return fmt.Appendf(nil, "GET /v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, s.addr, s.key)
}

// create returns a request as it is sent.
func (s *server) create(p petstore.NewPet) []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // the names are valid UTF-8
	}
	return fmt.Appendf(nil, "POST /v1/pets HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.addr, s.key, len(body), body)
}

// exchange sends a request on a new connection and returns the response.
func (s *server) exchange(request []byte) ([]byte, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	resp, err := c.do(request)
	if err != nil {
		return nil, err
	}
	return httputil.DumpResponse(resp, true)
}

func (s *server) processorTime() float64 {
	return processorTime(fmt.Sprintf("/proc/%d/task/*/schedstat", s.Pid()))
}

// processorTime returns the processor time in seconds of the threads whose
// files match the pattern; NaN where the system has no such files.
func processorTime(pattern string) float64 {
	files, _ := filepath.Glob(pattern)
	if files == nil {
		return math.NaN()
	}
	total := 0.0
	for _, file := range files {
		var nanoseconds float64
		b, _ := os.ReadFile(file) // fails if the thread has ended
		_, _ = fmt.Sscan(string(b), &nanoseconds)
		total += nanoseconds / 1e9
	}
	return total
}

// memory returns a value of the process's memory in MB by its name in /proc:
// RssAnon, or VmRSS, which includes mapped files. NaN: there is none.
func (s *server) memory(name string) (kilobytes float64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Pid()))
	_, value, _ := strings.Cut(string(b), "\n"+name+":")
	if _, err := fmt.Sscan(value, &kilobytes); err != nil {
		return math.NaN()
	}
	return kilobytes * 1024 / 1e6
}
