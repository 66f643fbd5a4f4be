package benchmark

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// server is a running server, a refserver or a bare one.
type server struct {
	*process.Server
	name string
	pets int64 // in its file at the start
}

// newFile creates a file with n pets and returns its path. The pets have names of 12
// bytes. The statuses, and none, are equally frequent.
func newFile(b *testing.B, n int64) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "pets.db")
	start := time.Now()
	lines, w := io.Pipe()
	go func() {
		buffered := bufio.NewWriter(w)
		for i := range n {
			pet := petstore.NewPet{Name: fmt.Sprintf("pet %08d", i), CategoryID: i % 100, Status: append(petstore.Statuses(), "")[i%4]}
			line, _ := json.Marshal(pet)
			buffered.Write(append(line, '\n'))
		}
		w.CloseWithError(buffered.Flush())
	}()
	if _, err := storage.Import(b.Context(), path, lines, &storage.ImportOptions{NewIDs: true}); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("storage.Import of %d pets: %.4g s, %.4g MB", n, time.Since(start).Seconds(), float64(info.Size())/1e6)
	return path
}

// executables returns the paths of the refservers to measure.
func executables(b *testing.B) []string {
	if servers == nil {
		return []string{process.Build(b, "example.com/animalstore/cmd/refserver")}
	}
	return servers
}

// serve starts a refserver on a file with that number of pets.
func serve(b *testing.B, exe, path string, pets int64) *server {
	b.Helper()
	dir := b.TempDir()
	code, key, stderr := process.Run(b, process.Command(dir, exe, "keys", "create", "benchmark"))
	if code != 0 {
		b.Fatalf("keys create: exit code %d\n%s", code, stderr)
	}
	s := process.Serve(b, process.Command(dir, exe, "-db="+path, "-addr=127.0.0.1:0"))
	s.Key = strings.TrimSpace(key)
	return &server{s, fmt.Sprintf("%s-%d", filepath.Base(exe), pets), pets}
}

// serveBare starts a bare server that responds to a request as s does.
func serveBare(b *testing.B, s *server, r request) *server {
	b.Helper()
	want := s.exchange(b, r.text(s, 1))
	cmd := process.Command(b.TempDir(), os.Args[0], bareCommand, s.Key, r.commit)
	cmd.Stdin = bytes.NewReader(want)
	bare := &server{process.Serve(b, cmd), "bare", 1}
	bare.Key = s.Key
	got := bare.exchange(b, r.text(bare, 1))
	varying := regexp.MustCompile(`(?m)^(Date|X-Request-Id): .*$`)
	if !bytes.Equal(varying.ReplaceAll(got, nil), varying.ReplaceAll(want, nil)) {
		b.Fatalf("the bare server must return %q, got %q", want, got)
	}
	return bare
}

// get returns a request as it is sent.
func (s *server) get(path string) []byte {
	return fmt.Appendf(nil, "GET /v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, s.Host(), s.Key)
}

// create returns a request as it is sent.
func (s *server) create() []byte {
	body, err := json.Marshal(petstore.NewPet{Name: "pet 00000000", CategoryID: 4, Status: petstore.StatusSold})
	if err != nil {
		panic(err) // the name is valid UTF-8
	}
	return fmt.Appendf(nil, "POST /v1/pets HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.Host(), s.Key, len(body), body)
}

// exchange sends a request on a new connection and returns the response.
func (s *server) exchange(b *testing.B, request []byte) []byte {
	b.Helper()
	c, err := s.dial()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	resp, err := c.do(request)
	if err != nil {
		b.Fatal(err)
	}
	text, err := httputil.DumpResponse(resp, true)
	if err != nil {
		b.Fatal(err)
	}
	return text
}
