package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

// The environment file has every setting of the server, with its default.
func TestEnvironmentFile(t *testing.T) {
	_, help, _ := process.Run(t, command(t.TempDir(), "serve", "-h"))
	want := make(map[string]string)
	for _, m := range regexp.MustCompile(`\((PETSTORE_\w+)\)(?: \(default "?([^")]*)"?\))?`).FindAllStringSubmatch(help, -1) {
		want[m[1]] = m[2]
	}
	file := string(process.ReadFile(t, "../../deploy/refserver.env"))
	got := make(map[string]string)
	var environ []string
	for _, m := range regexp.MustCompile(`(?m)^#(PETSTORE_\w+)=(.*)$`).FindAllStringSubmatch(file, -1) {
		got[m[1]] = strings.TrimSuffix(m[2], "false") // the help leaves it out
		environ = append(environ, m[1]+"="+m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the defaults in the help are not those in deploy/refserver.env (-help +file):\n%s", diff)
	}
	cmd := command(t.TempDir(), "-addr=127.0.0.1:0")
	cmd.Env = append(cmd.Env, environ...)
	process.Serve(t, cmd)
}
