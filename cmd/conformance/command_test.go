package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/internal/version"
)

// newTarget serves the reference handler and returns its base URL. A
// broken one responds to a create with 200.
func newTarget(t *testing.T, broken bool) string {
	t.Helper()
	srv := httptest.NewServer(testserver.Changed(testserver.New(0), func(_ *http.Request, rec *httptest.ResponseRecorder) {
		if broken && rec.Code == http.StatusCreated {
			rec.Code = http.StatusOK
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// cli runs a command line.
func cli(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = program().Run(flags.Call{Context: t.Context(), Args: args, Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &err})
	return code, out.String(), err.String()
}

// file writes a file for the test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	process.WriteFile(t, path, []byte(text))
	return path
}

func TestCommands(t *testing.T) {
	good, broken := newTarget(t, false), newTarget(t, true)
	keyFile := file(t, "key", "  "+testserver.Key+"\n")
	env := map[string]string{"PETSTORE_API_KEY": testserver.Key}
	closed := httptest.NewServer(nil)
	closed.Close()
	secure := httptest.NewTLSServer(testserver.New(0))
	t.Cleanup(secure.Close)
	ca := file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	run := func(url string, args ...string) []string {
		return append([]string{"run", "-url", url, "-timeout", "5m"}, args...)
	}
	checks := len(conformance.Checks())
	for _, tt := range []struct {
		name   string
		args   []string
		env    map[string]string
		code   int
		stdout string // part of it
		stderr string // part of it
	}{
		{name: "no failure", args: run(good), env: env, code: 0, stdout: "\nconformant: "},
		{name: "key in a file", args: run(good, "-key-file", keyFile, "-read-only"), code: 4, stdout: "\npartial: "},
		{name: "key as a flag", args: run(good, "-key", testserver.Key, "-read-only"), code: 4, stdout: "\npartial: "},
		{name: "known failure", args: run(broken, "-known", file(t, "known", "pets.create.status soon\npets.create.status.absent soon\n")), env: env, code: 0, stdout: ", 2 known to fail\n"},
		{name: "stale known failure", args: run(good, "-read-only", "-known", file(t, "known", "pets.list.status soon\n")), env: env, code: 1, stdout: "STALE pets.list.status"},
		{name: "verbose", args: run(broken, "-v"), env: env, code: 1, stdout: "\n  again, when sent alone: yes\n  curl -i "},
		{name: "summary in the last line", args: []string{"run", "-url", good, "-read-only", "-run", "pets.list.status"}, env: env, code: 4, stdout: fmt.Sprintf("\npartial: 1 of %d checks, none failed, %d skipped (not selected)\n", checks, checks-1)},

		{name: "a certificate that is not verified", args: run(secure.URL+"/v1", "-insecure", "-read-only"), env: env, code: 4, stdout: "\npartial: "},
		{name: "a certificate of a file", args: run(secure.URL+"/v1", "-ca", ca, "-read-only"), env: env, code: 4, stdout: "\npartial: "},
		{name: "a header field and a rate", args: run(good, "-H", "X-Tenant: acme", "-rate", "5000", "-read-only"), env: env, code: 4, stdout: "\npartial: "},

		{name: "an unknown certificate", args: run(secure.URL + "/v1"), env: env, code: 3, stderr: "certificate signed by unknown authority"},
		{name: "nothing listens", args: run(closed.URL), env: env, code: 3, stderr: "connection refused"},

		{name: "no command", code: 2, stderr: "must be one of run, serve, list, version"},
		{name: "unknown command", args: []string{"judge"}, code: 2, stderr: `unknown command "judge"`},
		{name: "unknown flag", args: run(good, "-quick"), code: 2, stderr: "-quick"},
		{name: "no URL", args: []string{"run"}, env: env, code: 2, stderr: "no URL"},
		{name: "no key", args: run(good), code: 2, stderr: "no API key: set -key-file, the environment variable PETSTORE_API_KEY or -key"},
		{name: "key file before the environment", args: run(good, "-key-file", keyFile, "-read-only"), env: map[string]string{"PETSTORE_API_KEY": "wrong"}, code: 4, stdout: "\npartial: "},
		{name: "missing key file", args: run(good, "-key-file", keyFile+"x"), code: 2, stderr: "no such file"},
		{name: "selector that matches nothing", args: []string{"run", "-url", good, "-run", "cats.*"}, env: env, code: 2, stderr: `"cats.*" matches no check`},
		{name: "malformed known file", args: run(good, "-known", file(t, "known", "pets.create.status\n")), env: env, code: 2, stderr: "line 1"},
		{name: "parallel 0", args: run(good, "-parallel", "0"), env: env, code: 2, stderr: "-parallel: must be at least 1, got 0"},
		{name: "timeout 0", args: run(good, "-timeout", "0"), env: env, code: 2, stderr: "-timeout: must be at least 1ms"},
		{name: "a certificate and none", args: run(good, "-ca", ca, "-insecure"), env: env, code: 2, stderr: "-ca and -insecure cannot be used together"},
		{name: "a file without certificates", args: run(good, "-ca", keyFile), env: env, code: 2, stderr: "has no PEM certificate"},
		{name: "a header field without a value", args: run(good, "-H", "X-Tenant"), env: env, code: 2, stderr: "flag -H: must be Name: value"},
		{name: "a negative rate", args: run(good, "-rate", "-1"), env: env, code: 2, stderr: "-rate: must be 0 or from 0.001 to 1000000"},
		{name: "unknown format", args: run(good, "-report", "pdf=x"), env: env, code: 2, stderr: `unknown format "pdf"; the formats are text, json, junit, html`},
		{name: "report to standard output", args: run(good, "-read-only", "-report", "json=-"), env: env, code: 4, stdout: `"outcome": "partial"`, stderr: "\npartial: "},
		{name: "report in a missing folder", args: run(good, "-report", "json="+keyFile+"x/report"), env: env, code: 2, stderr: "no such file or directory"},
		{name: "two reports in one file", args: run(good, "-report", "json=report", "-report", "text=./report"), env: env, code: 2, stderr: "another report already goes to ./report"},
		{name: "report without a file", args: run(good, "-report", "json"), env: env, code: 2, stderr: "json=report.json"},

		{name: "serve with an unknown difficulty", args: []string{"serve", "-only", "ids,slow"}, code: 2, stderr: `unknown difficulty "slow"; the difficulties are busy, lost, `},
		{name: "serve with an unknown format", args: []string{"serve", "-report", "html=x"}, code: 2, stderr: `unknown format "html"; the formats are text, json`},
		{name: "serve at an address in use", args: []string{"serve", "-addr", strings.TrimSuffix(strings.TrimPrefix(good, "http://"), "/v1")}, code: 2, stderr: "address already in use"},
		{name: "help for serve", args: []string{"serve", "-h"}, code: 0, stdout: "-only"},

		{name: "version", args: []string{"version"}, code: 0, stdout: "conformance " + version.String() + "\n"},
		{name: "help", args: []string{"help"}, code: 0, stdout: "Exit codes:"},
		{name: "list", args: []string{"list", "-run", "*.limit.above"}, code: 0, stdout: "pets.list.limit.above"},
		{name: "verbose list", args: []string{"list", "-v", "-run", "pets.list.limit.above"}, code: 0, stdout: "  why     One request must not read the whole store.\n  clause  The smallest limit is 1 and the largest 100.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := cli(t, tt.env, tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("conformance %s: code %d, want %d\n%s\n%s", strings.Join(tt.args, " "), code, tt.code, stdout, stderr)
			}
			if strings.Contains(stdout+stderr, testserver.Key) {
				t.Errorf("the output has the key:\n%s\n%s", stdout, stderr)
			}
			if code == 2 && (strings.Count(stderr, "\n") != 1 || stdout != "") {
				t.Errorf("wrong use is not explained in one line:\n%s\n%s", stdout, stderr)
			}
		})
	}
}

// A run writes every report completely, and none if it could not judge.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	var args []string
	for _, f := range report.Formats() {
		args = append(args, "-report", string(f)+"="+filepath.Join(dir, string(f)))
	}
	good := newTarget(t, false)
	env := map[string]string{"PETSTORE_API_KEY": testserver.Key}
	if code, _, stderr := cli(t, map[string]string{"PETSTORE_API_KEY": "wrong"}, append([]string{"run", "-url", good}, args...)...); code != exitNotJudged {
		t.Errorf("a wrong key: code %d\n%s", code, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a run that could not judge left %v, %v", left, err)
	}
	if code, _, stderr := cli(t, env, "run", "-url", good, "-read-only", "-report", "json="+dir); code != 2 || !strings.Contains(stderr, "is a directory") {
		t.Errorf("a folder as the file: code %d\n%s", code, stderr)
	}
	code, stdout, stderr := cli(t, env, append([]string{"run", "-url", good, "-messages-url", good}, args...)...)
	if code != exitConformant || stderr != "" {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(report.Formats()) {
		t.Errorf("the run left %v, %v", left, err)
	}
	for _, f := range report.Formats() {
		b := process.ReadFile(t, filepath.Join(dir, string(f)))
		if !bytes.Contains(b, []byte("conformant")) || bytes.Contains(b, []byte(testserver.Key)) {
			t.Errorf("%s: %s", f, b)
		}
	}
}
