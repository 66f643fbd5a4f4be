package ci

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// The script on the page ends with the exit code of the suite, or with 3 if the server
// does not start, and stops the server.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "conformance.sh")
	process.WriteFile(t, script, block(t, "#!/bin/sh\n"))
	server := process.Build(t, "example.com/animalstore/cmd/refserver")
	suite := filepath.Dir(process.Build(t, "example.com/animalstore/cmd/conformance"))
	code, key, stderr := process.Run(t, process.Command(dir, server, "keys", "create", "-keys=keys", "ci"))
	if code != 0 {
		t.Fatal(stderr)
	}
	addr := process.FreeAddress()
	serve := []string{server, "-addr=" + addr, "-keys=keys"}
	for i, tt := range []struct {
		name    string
		command []string
		key     string
		code    int
		says    string
	}{
		{"a conformant server", serve, strings.TrimSpace(key), 0, "\nconformant: "},
		{"a server that refuses the key", serve, "wrong", 3, "does not accept the API key"},
		{"a server that ends", []string{"sh", "-c", "echo no database; exit 5"}, "x", 3, "/v1:\nno database\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"sh", script, "http://" + addr + "/v1"}, tt.command...)
			cmd := process.Command(dir, append(args, fmt.Sprint("-db=db", i))...)
			cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+tt.key, "PATH="+suite+":"+os.Getenv("PATH"))
			if code, stdout, stderr := process.Run(t, cmd); code != tt.code || !strings.Contains(stdout+stderr, tt.says) {
				t.Errorf("code %d, want %d and %q\n%s\n%s", code, tt.code, tt.says, stdout, stderr)
			}
			if c, err := net.Dial("tcp", addr); err == nil {
				c.Close()
				t.Error("the server was not stopped")
			}
			if _, err := os.Stat(filepath.Join(dir, "conformance.xml")); err != nil { // of the first run
				t.Error(err)
			}
		})
	}
}
