package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/internal/test/testserver"
)

// TestScriptForCI runs the script in docs/conformance.md. It ends with the exit code of the
// suite, or with 3 and the server's log if the server ends, and stops the server.
func TestScriptForCI(t *testing.T) {
	process.Tool(t, "curl")
	page := process.ReadFile(t, "../../docs/conformance.md")
	block := regexp.MustCompile("(?s)```sh\n(#!/bin/sh\n.*?)```\n").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no script")
	}
	serve := "TEST_SERVE=ADDR exec " + os.Args[0]
	for _, tt := range []struct {
		name   string
		server string // how ./start-server starts it; ADDR is its address
		key    string
		code   int
		prints string
	}{
		{"a conformant server", serve, testserver.Key, 0, "\nconformant: "},
		{"a server that refuses the key", serve, "wrong", 3, "does not accept the API key"},
		{"a server that ends", "echo no database; exit 5", testserver.Key, 3, "no database\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, addr := t.TempDir(), process.FreeAddress()
			start := "#!/bin/sh\n" + strings.ReplaceAll(tt.server, "ADDR", addr) + "\n"
			if err := os.WriteFile(filepath.Join(dir, "start-server"), []byte(start), 0o700); err != nil {
				t.Fatal(err)
			}
			script := strings.ReplaceAll(string(block[1]), "127.0.0.1:8080", addr)
			process.WriteFile(t, filepath.Join(dir, "ci.sh"), []byte(script))
			if err := os.Symlink(os.Args[0], filepath.Join(dir, "conformance")); err != nil {
				t.Fatal(err)
			}
			cmd := process.Command(dir, "sh", "ci.sh")
			cmd.Env = append(cmd.Env, "CONFORMANCE_TEST_RUN=1", "PETSTORE_API_KEY="+tt.key, "PATH="+dir+":"+os.Getenv("PATH"))
			if code, stdout, stderr := process.Run(t, cmd); code != tt.code || !strings.Contains(stdout, tt.prints) {
				t.Errorf("code %d, want %d and %q\n%s\n%s", code, tt.code, tt.prints, stdout, stderr)
			}
			if tt.code == 0 {
				report := process.ReadFile(t, filepath.Join(dir, "conformance.xml"))
				if !strings.Contains(string(report), "<testsuite ") {
					t.Errorf("the report is %.300s", report)
				}
			}
			process.Eventually(t, "the server is stopped", func() error {
				c, err := net.Dial("tcp", addr)
				if err == nil {
					c.Close()
					return fmt.Errorf("it still listens at %s", addr)
				}
				return nil
			})
		})
	}
}
