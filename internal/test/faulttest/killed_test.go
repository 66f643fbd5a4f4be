//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// synced matches the system calls of a command that syncs the new file before it gets
// its name, and its directory afterwards.
var synced = regexp.MustCompile(`(?s)\bfsync\([^\n]*\.part.*\b(linkat|renameat)\([^\n]*\.part.*\bfsync\(`)

// TestCommandsKilled kills import and export -o at each of their system calls that change
// files. Then either the new file is missing, and the command can be called again, or all of
// it is there.
func TestCommandsKilled(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	const pet = `{"id":1,"name":"one","categoryId":1}` + "\n"
	dir := t.TempDir()
	process.WriteFile(t, filepath.Join(dir, "export"), []byte(pet+`{"end":{"pets":1}}`))
	mustRun(t, dir, "import", "-db=store.db", "export")
	for _, c := range []struct {
		name, makes string
		args        []string
		read        func(dir string) string
	}{
		{"import", "petstore.db", []string{"import", filepath.Join(dir, "export")}, func(dir string) string {
			return mustRun(t, dir, "export", "petstore.db")
		}},
		{"export", "new.jsonl", []string{"export", "-o=new.jsonl", filepath.Join(dir, "store.db")}, func(dir string) string {
			return string(process.ReadFile(t, filepath.Join(dir, "new.jsonl")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// killed kills the command at the n-th call and returns what the new file
			// holds then.
			killed := func(call string, n int) (got string, ended bool) {
				to := t.TempDir()
				cmd := process.Command(to, append([]string{"strace", "-f", "-y", "-o", "trace", "-e", "signal=none", "-e", "trace=fsync,linkat,renameat," + call,
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), process.Build(t, refserver)}, c.args...)...)
				code, _, _ := process.Run(t, cmd)
				if _, err := os.Stat(filepath.Join(to, c.makes)); err == nil {
					got = c.read(to)
				}
				whole := strings.HasPrefix(got, pet) && strings.Count(got, "\n") == 2
				if got != "" && !whole {
					t.Fatalf("killed at %s %d: the file holds %q", call, n, got)
				}
				if code != 0 && got == "" {
					mustRun(t, to, c.args...)
				}
				if trace := process.ReadFile(t, filepath.Join(to, "trace")); code == 0 && (!whole || !synced.Match(trace)) {
					t.Errorf("the command was not killed; the file holds %q; trace: %s", got, trace)
				}
				return got, code == 0
			}
			before, after := 0, 0
			for _, call := range []string{"fsync", "linkat", "renameat", "unlinkat"} {
				for n := 1; !t.Failed(); n++ {
					got, ended := killed(call, n)
					if ended {
						break
					}
					if got == "" {
						before++
					} else {
						after++
					}
				}
			}
			if before == 0 || after == 0 {
				t.Errorf("killed %d times before the new file was in its place, %d times afterwards", before, after)
			}
		})
	}
}
