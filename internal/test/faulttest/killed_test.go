//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// synced matches the system calls of a command that syncs the new file before it gets
// its name, and its directory afterwards.
var synced = regexp.MustCompile(`(?s)\bfsync\([^\n]*\.new-.*\b(linkat|renameat)\([^\n]*\.new-.*\bfsync\(`)

// TestCommandsKilled kills import and restore at each of their system calls that change files.
// Then either the store is missing, and the command can be called again, or all of the new
// one is there.
func TestCommandsKilled(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	const export = `{"id":1,"name":"one","categoryId":1}
{"end":{"pets":1,"messages":0,"lastMessage":0}}
`
	dir := t.TempDir()
	process.WriteFile(t, filepath.Join(dir, "export"), []byte(export))
	mustRun(t, dir, "import", "-db=store.db", "export")
	for command, from := range map[string]string{"import": "export", "restore": "store.db"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			args := []string{command, filepath.Join(dir, from)}
			// killed kills the command at the n-th call and returns what the store
			// holds then.
			killed := func(call string, n int) (got string, ended bool) {
				to := t.TempDir()
				db := filepath.Join(to, "petstore.db")
				cmd := process.Command(to, append([]string{"strace", "-f", "-y", "-o", "trace", "-e", "signal=none", "-e", "trace=fsync,linkat,renameat," + call,
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), process.Build(t, refserver)}, args...)...)
				code, _, _ := process.Run(t, cmd)
				if _, err := os.Stat(db); err == nil {
					got = mustRun(t, to, "export", db)
				}
				if got != "" && got != export {
					t.Fatalf("the store holds %q", got)
				}
				if code != 0 && got == "" {
					mustRun(t, to, args...)
				}
				if trace := process.ReadFile(t, filepath.Join(to, "trace")); code == 0 && (got != export || !synced.Match(trace)) {
					t.Errorf("the command was not killed; the store holds %q; trace: %s", got, trace)
				}
				return got, code == 0
			}
			before, after := 0, 0
			for _, call := range []string{"fsync", "linkat", "renameat", "unlinkat"} {
				for n := 1; !t.Failed(); n++ {
					got, ended := killed(call, n)
					if t.Failed() {
						t.Logf("killed at %s %d", call, n)
					}
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
				t.Errorf("killed %d times before the new store was in its place, %d times afterwards", before, after)
			}
		})
	}
}
