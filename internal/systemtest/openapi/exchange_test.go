package openapi

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exchange is a request to the handler and its response, as the tests of package
// httpapi record them.
type exchange struct {
	Test           string
	Method, Target string
	RequestHeader  http.Header
	RequestBody    []byte
	Status         int
	Header         http.Header
	Body           []byte
}

// recordExchanges runs the tests of package httpapi and returns every exchange
// that their servers had.
func recordExchanges(t *testing.T) []exchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exchanges")
	cmd := exec.CommandContext(t.Context(), "go", "test", "./petstore/httpapi", "-record", path)
	cmd.Dir = rootModule(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []exchange
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var x exchange
		if err := dec.Decode(&x); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
}

// rootModule returns the folder of the petstore's own module.
func rootModule(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "example.com/animalstore").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
