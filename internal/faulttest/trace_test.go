//go:build linux

package faulttest

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// call is a system call of a traced writer.
type call struct {
	name     string
	path     string // of the file it is about
	data     []byte // written
	offset   int64  // of a write; of a truncation, the new length
	target   string // of a link
	injected bool   // it failed on purpose
}

// traced returns a prefix that records the file calls of a process in the file
// at path. The tracer ends last, when the file is complete.
func traced(path string, more ...string) []string {
	return append([]string{"strace", "-f", "-y", "-xx", "-s", "40000000", "-o", path,
		"-e", "trace=pwrite64,ftruncate,fdatasync,fsync,write,linkat,unlinkat"}, more...)
}

var (
	callForm    = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	resumedForm = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)
	descriptor  = regexp.MustCompile(`^\d+<([^>]*)>`)
	quoted      = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// readTrace returns the recorded calls in the order in which they began, but a
// sync where it ended.
func readTrace(t *testing.T, path string) (calls []call) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unfinished := map[string]int{} // by thread
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<30)
	for sc.Scan() {
		line := sc.Text()
		if m := resumedForm.FindStringSubmatch(line); m != nil {
			i := unfinished[m[1]]
			c := calls[i]
			c.injected = strings.Contains(line, "(INJECTED)")
			calls[i] = c
			if c.name == "fdatasync" || c.name == "fsync" {
				calls[i].name = "" // moved to its end
				calls = append(calls, c)
			}
			continue
		}
		m := callForm.FindStringSubmatch(line)
		if m == nil {
			continue // a signal, an exit
		}
		c, err := parseCall(m[1], m[2])
		if err != nil {
			t.Fatalf("%v in the line %.200s", err, line)
		}
		if thread, _, _ := strings.Cut(line, " "); strings.HasSuffix(line, "<unfinished ...>") {
			unfinished[thread] = len(calls)
		}
		calls = append(calls, c)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

func parseCall(name, args string) (c call, err error) {
	c.name, c.injected = name, strings.Contains(args, "(INJECTED)")
	if m := descriptor.FindStringSubmatch(args); m != nil {
		c.path = unescape(m[1])
	}
	texts := quoted.FindAllStringSubmatch(args, -1)
	switch name {
	case "linkat", "unlinkat":
		if len(texts) > 0 {
			c.path = unescape(texts[0][1])
		}
		if len(texts) > 1 {
			c.target = unescape(texts[1][1])
		}
	case "pwrite64", "write":
		if len(texts) != 1 {
			return c, fmt.Errorf("no data")
		}
		c.data = []byte(unescape(texts[0][1]))
		if name == "pwrite64" {
			rest := args[strings.LastIndex(args, `"`):]
			_, err = fmt.Sscanf(strings.ReplaceAll(rest, ",", " "), `" %d %d`, new(int64), &c.offset)
		}
	case "ftruncate":
		_, rest, _ := strings.Cut(args, ">, ")
		c.offset, err = strconv.ParseInt(rest[:strings.IndexAny(rest, " )")], 10, 64)
	}
	return c, err
}

// unescape decodes the strings of strace -xx.
func unescape(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return s
	}
	return string(b)
}

// recording is a run of the writer.
type recording struct {
	path    string // of the store
	outcome outcome
	calls   []call
	code    int
}

// recordWriter runs the writer, with more flags of strace.
func recordWriter(t *testing.T, changes int, more ...string) recording {
	t.Helper()
	path, trace := filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "trace")
	code, stdout, _ := process.Run(t, writer(path, changes, traced(trace, more...)...))
	return recording{path, parseOutcome(stdout), readTrace(t, trace), code}
}

// TestNewDirectories makes a store in directories that do not exist. The parent
// of each new directory must be synced, and the store's own directory.
func TestNewDirectories(t *testing.T) {
	needStrace(t)
	parallel(t)
	dir := t.TempDir()
	trace := filepath.Join(t.TempDir(), "trace")
	if code, _, stderr := process.Run(t, writer(filepath.Join(dir, "a", "b", "c", "pets.db"), 0, traced(trace)...)); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	synced := map[string]bool{}
	for _, c := range readTrace(t, trace) {
		if c.name == "fsync" {
			synced[c.path] = true
		}
	}
	want := []string{dir, filepath.Join(dir, "a"), filepath.Join(dir, "a", "b"), filepath.Join(dir, "a", "b", "c")}
	for _, path := range want {
		if !synced[path] {
			t.Errorf("%s was not synced", path)
		}
	}
	report(t, "%d directories synced", len(want))
}
