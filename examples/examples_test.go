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

// TestServer: nethttp is conformant under its prefix, and the example list lists all of its
// pets.
func TestServer(t *testing.T) {
	dir := t.TempDir()
	key, _, err := apikey.Create(filepath.Join(dir, "pets.keys"), "alice")
	if err != nil {
		t.Fatal(err)
	}
	s := process.Serve(t, process.Command(dir, process.Build(t, "./nethttp"), "-addr", "127.0.0.1:0"))
	s.Key = key
	conformancetest.Run(t, conformance.Target{URL: s.URL, MessagesURL: s.URL, Key: key}, &conformance.Options{
		FailLevel: conformance.Recommended, Timeout: process.Patience,
	})
	if r := s.Must(405, "PROPFIND", "/pets", ""); r.Header.Get("Allow") == "" || !strings.Contains(r.Body, "method_not_allowed") {
		t.Errorf("PROPFIND: %v %s", r.Header, r.Body)
	}
	s.Must(200, "GET", "//pets", "") // after a redirect
	s.Must(404, "GET", "/pets/", "")

	list := process.Command(dir, process.Build(t, "./list"), "-url", s.URL)
	list.Env = append(list.Env, "PETSTORE_API_KEY="+s.Key)
	code, out, _ := process.Run(t, list)
	n := strings.Count(out, "\n")
	if last := fmt.Sprintf("\n%d\t", n); code != 0 || n < 101 || !strings.Contains(out, last) {
		t.Errorf("list: exit code %d, %d pets; want 0, at least 101 and the line %q:\n%s", code, n, last, out)
	}
	s.Stop()
}
