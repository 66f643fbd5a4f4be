package main

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
var synced = regexp.MustCompile(`(?s)\bfsync\([^\n]*\.new-.*\b(linkat|renameat)\([^\n]*\.new-.*\bfsync\(`)

// TestKilled kills import and restore at each of their system calls that change files.
// Then either the store is missing, and the command can be called again, or all of the new
// one is there.
func TestKilled(t *testing.T) {
	t.Parallel()
	strace := process.Tool(t, "strace")
	const one = `{"id":1,"name":"one","categoryId":1}
{"end":{"pets":1,"messages":0,"lastMessage":0}}
`
	two := strings.Replace(strings.Replace(one, "{\"end", "{\"id\":2,\"name\":\"two\",\"categoryId\":1}\n{\"end", 1), `"pets":1`, `"pets":2`, 1)
	dir := t.TempDir()
	for name, lines := range map[string]string{"one": one, "two": two} {
		process.WriteFile(t, filepath.Join(dir, name), []byte(lines))
		mustRun(t, dir, "import", "-db="+name+".db", name)
	}
	for _, c := range []struct {
		command, from string
		after         string // the export
	}{
		{"import", "one", one},
		{"restore", "two.db", two},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			args := []string{c.command, filepath.Join(dir, c.from)}
			// killed kills the command at the n-th call and returns what the store
			// holds then.
			killed := func(call string, n int) (got string, ended bool) {
				to := t.TempDir()
				db := filepath.Join(to, "petstore.db")
				cmd := command(to, args...)
				cmd.Path = strace
				cmd.Args = append([]string{"strace", "-f", "-y", "-o", "trace", "-e", "signal=none", "-e", "trace=fsync,linkat,renameat," + call,
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)}, cmd.Args...)
				code, _, _ := process.Run(t, cmd)
				if _, err := os.Stat(db); err == nil {
					got = mustRun(t, to, "export", db)
				}
				if got != "" && got != c.after {
					t.Fatalf("the store holds %q", got)
				}
				if code != 0 && got == "" {
					mustRun(t, to, args...)
				}
				if trace := process.ReadFile(t, filepath.Join(to, "trace")); code == 0 && (got != c.after || !synced.Match(trace)) {
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
