package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// named matches the system calls that sync a file or give it a name. synced matches
// a list of them in which the new file is synced before it gets its name, and its
// directory afterwards.
var (
	named  = regexp.MustCompile(`\b(fsync|linkat|renameat)\(.*`)
	synced = regexp.MustCompile(`(?m)^fsync\(.*\.new-.*\n(linkat|renameat)\(.*\.new-.*\nfsync\(`)
)

// TestKilled kills import and restore before each of their system calls that change
// files. The store is then the old one or the new one, whole, and if it is the old
// one, the command can be called again.
func TestKilled(t *testing.T) {
	t.Parallel()
	strace := process.Tool(t, "strace")
	const oneLines = `{"id":1,"name":"one","categoryId":1}
{"id":"msg_2","message":"m","status":"queued","createdAt":"2026-01-01T00:00:00Z"}
{"end":{"pets":1,"messages":1,"lastMessage":2}}
`
	dir := t.TempDir()
	process.WriteFile(t, filepath.Join(dir, "one.jsonl"), []byte(oneLines))
	twoLines := run(t, dir, `
		refserver import -db=one.db one.jsonl
		sh cat one.jsonl one.jsonl | grep -v end | refserver import -db=two.db -new-ids -
		refserver export two.db`).stdout
	oneFile := process.ReadFile(t, filepath.Join(dir, "one.db"))
	for _, c := range []struct {
		command       string
		before, after string // exports; "": there is no file
	}{
		{"import " + dir + "/one.jsonl", "", oneLines},
		{"restore " + dir + "/two.db", oneLines, twoLines},
	} {
		t.Run(strings.Fields(c.command)[0], func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(c.command)
			// killed kills the command at the n-th call and returns what the store
			// holds then.
			killed := func(call string, n int) (got string, ended bool) {
				dir := t.TempDir()
				db := filepath.Join(dir, "petstore.db")
				if c.before != "" {
					process.WriteFile(t, db, oneFile)
				}
				cmd := command(dir, args...)
				cmd.Path = strace
				cmd.Args = append([]string{"strace", "-f", "-y", "-o", "trace", "-e", "signal=none", "-e", "trace=fsync,linkat,renameat," + call,
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)}, cmd.Args...)
				code, _, _ := process.Run(t, cmd)
				if _, err := os.Stat(db); err == nil {
					_, got, _ = process.Run(t, command(dir, "export", db))
				}
				if got != c.before && got != c.after {
					t.Fatalf("the store holds %q", got)
				}
				if args[0] == "restore" && got == c.after {
					kept, err := filepath.Glob(db + ".replaced-*")
					if err != nil || len(kept) != 1 || !bytes.Equal(process.ReadFile(t, kept[0]), oneFile) {
						t.Errorf("the old file is not kept: %v, %v", kept, err)
					}
				}
				if code != 0 && got == c.before {
					run(t, dir, "refserver "+strings.Join(args, " "))
				}
				if code == 0 {
					trace := named.FindAllString(string(process.ReadFile(t, filepath.Join(dir, "trace"))), -1)
					if got != c.after || !synced.MatchString(strings.Join(trace, "\n")) {
						t.Errorf("the command was not killed; the store holds %q; trace: %q", got, trace)
					}
				}
				return got, code == 0
			}
			before, after := 0, 0
			for _, call := range []string{"pwrite64", "ftruncate", "fdatasync", "fsync", "linkat", "renameat", "unlinkat"} {
				for n, ended := 1, false; !ended && !t.Failed(); n++ {
					var got string
					if got, ended = killed(call, n); ended {
						continue
					}
					if got == c.before {
						before++
					} else {
						after++
					}
					if t.Failed() {
						t.Logf("killed at %s %d", call, n)
					}
				}
			}
			t.Logf("killed %d times before the new store was in its place, %d times afterwards", before, after)
			if before == 0 || after == 0 {
				t.Error("it was never killed before or never after the new store was in its place")
			}
		})
	}
}
