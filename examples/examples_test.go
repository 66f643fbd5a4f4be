// Package examples starts the examples as a user would, and tests them.
package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore/apikey"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

var servers = []struct {
	name    string
	unclean int // the status of GET //pets, after redirects
	check   func(*testing.T, *process.Server)
}{
	{name: "nethttp", unclean: 200, check: func(_ *testing.T, s *process.Server) { s.Stop() }},
	{name: "chi", unclean: 404},
	{name: "gin", unclean: 404},
	{name: "auth", unclean: 404, check: testAuth},
	{name: "validate", unclean: 404, check: testValidate},
	{name: "otel", unclean: 200, check: testOtel},
}

// TestServers: each server is conformant under its prefix, and the example list
// lists all of its pets.
func TestServers(t *testing.T) {
	for _, tt := range servers {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := start(t, dir, createKey(t, dir), tt.name)
			testSuite(t, s.URL, s.Key)
			if r := s.Must(405, "PROPFIND", "/pets", ""); r.Header.Get("Allow") == "" || !strings.Contains(r.Body, "method_not_allowed") {
				t.Errorf("PROPFIND: %v %s", r.Header, r.Body)
			}
			s.Must(tt.unclean, "GET", "//pets", "")
			s.Must(404, "GET", "/pets/", "")

			list := process.Command(dir, process.Build(t, "./list"), "-url", s.URL)
			list.Env = append(list.Env, "PETSTORE_API_KEY="+s.Key)
			code, out, _ := process.Run(t, list)
			n := strings.Count(out, "\n")
			if last := fmt.Sprintf("\n%d\t", n); code != 0 || n < 101 || !strings.Contains(out, last) {
				t.Errorf("list: exit code %d, %d pets; want 0, at least 101 and the line %q:\n%s", code, n, last, out)
			}
			if tt.check != nil {
				tt.check(t, s)
			}
		})
	}
}

// createKey creates a file of keys in dir, and returns the key in it.
func createKey(t *testing.T, dir string) string {
	t.Helper()
	key, _, err := apikey.Create(filepath.Join(dir, "pets.keys"), "alice")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

const secondKey = "0123456789abcdef0123456789abcdef"

// start starts an example that serves the files in dir. The requests of the returned
// server have key.
func start(t *testing.T, dir, key, name string, args ...string) *process.Server {
	t.Helper()
	cmd := process.Command(dir, append([]string{process.Build(t, "./"+name), "-addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("API_KEYS=alice=%s alice=%s", key, secondKey))
	s := process.Serve(t, cmd)
	s.Key = key
	return s
}

func testSuite(t *testing.T, url, key string) {
	category := int64(1)
	conformancetest.Run(t, conformance.Target{URL: url, MessagesURL: url, Key: key}, &conformance.Options{
		Level: conformance.Recommended, Category: &category, Timeout: process.Patience,
	})
}

const rex = `{"name":"Rex","categoryId":1}`

func testAuth(t *testing.T, s *process.Server) {
	s.Must(401, "GET", "/pets", "", "Authorization", "Bearer "+secondKey+"x")
	first := s.Must(201, "POST", "/pets", rex, "Idempotency-Key", "k")
	if again := s.Must(201, "POST", "/pets", rex, "Idempotency-Key", "k", "Authorization", "Bearer "+secondKey); again.Body != first.Body {
		t.Errorf("with the account's second key: %s, want %s", again.Body, first.Body)
	}
}

func testValidate(t *testing.T, s *process.Server) {
	for body, want := range map[string]string{
		`{"name":" ","categoryId":1}`:   "name: must not be blank",
		`{"name":"Rex","categoryId":3}`: "categoryId: must be 1 (cats) or 2 (dogs), got 3",
	} {
		if r := s.Must(400, "POST", "/pets", body); !strings.Contains(r.Body, want) {
			t.Errorf("%s: %s, want %q", body, r.Body, want)
		}
	}
}

func testOtel(t *testing.T, s *process.Server) {
	s.Must(404, "GET", "/pets/1000000", "")
	s.Until("the span is printed", func() bool {
		for line := range strings.Lines(s.Stdout.String()) {
			if strings.HasPrefix(line, `{"Name":"GET /pets/{petId}"`) && strings.Contains(line, `"not_found"`) {
				return strings.Contains(line, `"alice"`)
			}
		}
		return false
	})
}
