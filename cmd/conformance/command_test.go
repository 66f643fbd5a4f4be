package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

// newTarget serves the reference handler and returns its base URL. A broken one responds
// with 410 instead of 404.
func newTarget(t *testing.T, broken bool) string {
	t.Helper()
	srv := httptest.NewServer(testserver.Changed(testserver.New(0), func(_ *http.Request, rec *httptest.ResponseRecorder) {
		if broken && rec.Code == http.StatusNotFound {
			rec.Code = http.StatusGone
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func TestCommands(t *testing.T) {
	t.Parallel()
	good, broken := newTarget(t, false), newTarget(t, true) // for runs that add nothing
	secure := httptest.NewTLSServer(testserver.New(0))
	t.Cleanup(secure.Close)
	folder := t.TempDir()
	run := func(url string, args ...string) []string {
		return append([]string{"run", "-url", url, "-timeout", "5m"}, args...) // the machine may be busy
	}
	tests := []struct {
		name   string
		args   []string
		key    string // PETSTORE_API_KEY; "": that of the target
		code   int
		stdout string // part of it
		stderr string // part of it
	}{
		{name: "failures that are left out", args: run(broken, "-read-only", "-skip", "pets.get.missing", "-skip", "errors.*"), code: 4, stdout: "\npartial: "},
		{name: "verbose", args: run(broken, "-read-only", "-v", "-run", "pets.get.*"), code: 1, stdout: "\nSKIP pets.list.status [section 1, 4.1]: not selected\n"},
		{name: "no messages there", args: run(good, "-messages-url", good+"/x"), code: 3, stdout: "no messages at"},
		{name: "an unknown certificate", args: run(secure.URL + "/v1"), code: 3, stdout: "certificate signed by unknown authority"},
		{name: "a wrong key", args: run(good, "-json", filepath.Join(folder, "none")), key: "wrong", code: 3, stdout: "does not accept the API key"},
		{name: "report in a folder's place", args: run(good, "-read-only", "-json", folder), code: 2, stdout: "\npartial: ", stderr: "is a directory"},
		{name: "reports", args: run(newTarget(t, false), "-pets-only", "-json", filepath.Join(folder, "json"), "-junit", filepath.Join(folder, "junit")), code: 0, stdout: "\nconformant: "},
	}
	t.Run("run", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				key := cmp.Or(tt.key, testserver.Key)
				var out, errs bytes.Buffer
				code := program().Run(flags.Call{Context: t.Context(), Args: tt.args, Getenv: func(string) string { return key }, Stdout: &out, Stderr: &errs})
				stdout, stderr := out.String(), errs.String()
				if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
					t.Errorf("conformance %s: code %d, want %d, %q and %q\n%s\n%s", strings.Join(tt.args, " "), code, tt.code, tt.stdout, tt.stderr, stdout, stderr)
				}
				if strings.Contains(stdout+stderr, testserver.Key) {
					t.Errorf("the output has the key:\n%s\n%s", stdout, stderr)
				}
				if code == 2 && strings.Count(stderr, "\n") != 1 {
					t.Errorf("wrong use is not explained in one line:\n%s", stderr)
				}
			})
		}
	})
	full, stdout := io.Pipe()
	full.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for command, want := range map[string]int{"list": 1, "version": 1, "serve": 2} {
		c := flags.Call{Context: ended, Args: []string{command}, Stdout: stdout, Stderr: io.Discard}
		if code := program().Run(c); code != want {
			t.Errorf("conformance %s: code %d if its output cannot be written, want %d", command, code, want)
		}
	}
	for name, want := range map[string]string{"json": `"conclusion": "conformant"`, "junit": "<testsuite ", "none": `"conclusion": "not judged"`} {
		if b := process.ReadFile(t, filepath.Join(folder, name)); !bytes.Contains(b, []byte(want)) || bytes.Contains(b, []byte(testserver.Key)) {
			t.Errorf("%s: %s", name, b)
		}
	}
}
