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

// TestServers: each server is conformant under its prefix, and the example list
// lists all of its pets.
func TestServers(t *testing.T) {
	for name, unclean := range map[string]int{"nethttp": 200, "chi": 404, "otel": 200} { // the status of GET //pets, after redirects
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key, _, err := apikey.Create(filepath.Join(dir, "pets.keys"), "alice")
			if err != nil {
				t.Fatal(err)
			}
			s := process.Serve(t, process.Command(dir, process.Build(t, "./"+name), "-addr", "127.0.0.1:0"))
			s.Key = key
			conformancetest.Run(t, conformance.Target{URL: s.URL, MessagesURL: s.URL, Key: key}, &conformance.Options{
				Level: conformance.Recommended, Timeout: process.Patience,
			})
			if r := s.Must(405, "PROPFIND", "/pets", ""); r.Header.Get("Allow") == "" || !strings.Contains(r.Body, "method_not_allowed") {
				t.Errorf("PROPFIND: %v %s", r.Header, r.Body)
			}
			s.Must(unclean, "GET", "//pets", "")
			s.Must(404, "GET", "/pets/", "")

			list := process.Command(dir, process.Build(t, "./list"), "-url", s.URL)
			list.Env = append(list.Env, "PETSTORE_API_KEY="+s.Key)
			code, out, _ := process.Run(t, list)
			n := strings.Count(out, "\n")
			if last := fmt.Sprintf("\n%d\t", n); code != 0 || n < 101 || !strings.Contains(out, last) {
				t.Errorf("list: exit code %d, %d pets; want 0, at least 101 and the line %q:\n%s", code, n, last, out)
			}
			switch name {
			case "nethttp":
				s.Stop()
			case "otel":
				testOtel(t, s)
			}
		})
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
