package benchmark

import (
	"bytes"
	"fmt"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
)

// server is a running server, a refserver or a bare one.
type server struct {
	*process.Server
	name string
}

// executables returns the paths of the refservers to measure.
func executables(b *testing.B) []string {
	if servers == nil {
		return []string{process.Build(b, "example.com/animalstore/cmd/refserver")}
	}
	return servers
}

// serveFilled starts a refserver on a new store and has it create [smallPets]
// pets, so that servers with different file formats can be compared.
func serveFilled(b *testing.B, exe string) *server {
	b.Helper()
	s := &server{process.Serve(b, process.Command(b.TempDir(), exe, "-addr=127.0.0.1:0")), filepath.Base(exe)}
	b.Cleanup(s.Stop)
	if s.Key == "" { // Serve does not look for a key if the store is not in a file
		key, err := s.Process.Key()
		if err != nil {
			b.Fatal(err)
		}
		s.Server.Key = key
	}
	var requests [][]byte
	for p := range newPets(smallPets) {
		requests = append(requests, s.create(p))
	}
	if _, err := s.send(b.Context(), 64, len(requests), requests); err != nil {
		b.Fatal(err)
	}
	return s
}

// serveFile starts the first refserver on a file.
func serveFile(b *testing.B, path string) *server {
	b.Helper()
	dir, exe := b.TempDir(), executables(b)[0]
	code, key, stderr := process.Run(b, process.Command(dir, exe, "keys", "create", "benchmark"))
	if code != 0 {
		b.Fatalf("keys create: exit code %d\n%s", code, stderr)
	}
	s := process.Serve(b, process.Command(dir, exe, "-db="+path, "-addr=127.0.0.1:0"))
	s.Key = strings.TrimSpace(key)
	return &server{s, filepath.Base(exe)}
}

// serveBare starts a bare server that responds to a request as s does.
func serveBare(b *testing.B, s *server, request func(*server) []byte, commit string) *server {
	b.Helper()
	want := s.exchange(b, request(s))
	cmd := process.Command(b.TempDir(), os.Args[0], bareCommand, s.Key, commit)
	cmd.Stdin = bytes.NewReader(want)
	bare := &server{process.Serve(b, cmd), "bare"}
	bare.Key = s.Key
	got := bare.exchange(b, request(bare))
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
func (s *server) create(p petstore.NewPet) []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // the names are valid UTF-8
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
