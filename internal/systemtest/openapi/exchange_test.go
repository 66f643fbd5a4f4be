package openapi

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
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
	cmd := process.Command(rootModule(t), "go", "test", "./petstore/httpapi", "-record", path)
	if code, stdout, stderr := process.Run(t, cmd); code != 0 {
		t.Fatalf("%v: exit code %d\n%s%s", cmd, code, stdout, stderr)
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
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
