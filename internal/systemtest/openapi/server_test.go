package openapi

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/animalstore/internal/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// startServer runs the reference server with an empty store until the test
// ends.
func startServer(t *testing.T) (url, key string) {
	t.Helper()
	exe := process.Build(t, "example.com/animalstore/cmd/refserver")
	s := process.Serve(t, process.Command(t.TempDir(), exe, "-addr=127.0.0.1:0"))
	return s.URL, s.Key
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
