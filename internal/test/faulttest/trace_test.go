//go:build linux

package faulttest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
)

// call is a system call of a traced server.
type call struct {
	at       time.Time // when it began; of a sync, when it ended
	name     string
	path     string // of the file it is about
	data     []byte // written
	offset   int64  // of a write; of a truncation, the new length
	target   string // of a link
	injected bool   // it failed on purpose
}

// traced returns a prefix that records the file calls of a process in the file
// at path.
func traced(path string, more ...string) []string {
	return append([]string{"strace", "-D", "-f", "-y", "-xx", "-ttt", "-s", "40000000", "-o", path,
		"-e", "trace=pwrite64,ftruncate,fdatasync,fsync,linkat"}, more...)
}

var (
	callForm    = regexp.MustCompile(`^(\d+) +([\d.]+) (\w+)\((.*)$`)
	resumedForm = regexp.MustCompile(`^(\d+) +([\d.]+) <\.\.\. \w+ resumed>`)
	descriptor  = regexp.MustCompile(`^\d+<([^>]*)>`)
	quoted      = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// parseTrace returns the recorded calls in the order in which they began, but a
// sync where it ended.
func parseTrace(t *testing.T, text []byte) (calls []call) {
	t.Helper()
	unfinished := map[string]int{} // by thread
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if m := resumedForm.FindStringSubmatch(line); m != nil {
			i := unfinished[m[1]]
			c := calls[i]
			c.injected = strings.Contains(line, "(INJECTED)")
			calls[i] = c
			if c.name == "fdatasync" || c.name == "fsync" {
				calls[i].name = "" // moved to its end
				c.at = parseTime(t, m[2])
				calls = append(calls, c)
			}
			continue
		}
		m := callForm.FindStringSubmatch(line)
		if m == nil {
			continue // a signal, an exit
		}
		c, err := parseCall(m[3], m[4])
		if err != nil {
			t.Fatalf("%v in the line %.200s", err, line)
		}
		c.at = parseTime(t, m[2])
		if strings.HasSuffix(line, "<unfinished ...>") {
			unfinished[m[1]] = len(calls)
		}
		calls = append(calls, c)
	}
	return calls
}

// parseTime returns the time of strace -ttt: the seconds since 1970, with six decimals.
func parseTime(t *testing.T, s string) time.Time {
	t.Helper()
	micros, err := strconv.ParseInt(strings.Replace(s, ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMicro(micros)
}

func parseCall(name, args string) (c call, err error) {
	c.name, c.injected = name, strings.Contains(args, "(INJECTED)")
	if m := descriptor.FindStringSubmatch(args); m != nil {
		c.path = unescape(m[1])
	}
	texts := quoted.FindAllStringSubmatch(args, -1)
	switch name {
	case "linkat":
		if len(texts) > 1 {
			c.target = unescape(texts[1][1])
		}
	case "pwrite64":
		if len(texts) != 1 {
			return c, fmt.Errorf("no data")
		}
		c.data = []byte(unescape(texts[0][1]))
		rest := args[strings.LastIndex(args, `"`):]
		_, err = fmt.Sscanf(strings.ReplaceAll(rest, ",", " "), `" %d %d`, new(int64), &c.offset)
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

const writers = 4

// recording is a run of a server with clients that write.
type recording struct {
	*process.Server
	*load        // nil: the server did not start
	store string // its path
	calls []call
	idle  time.Time // since then the clients have sent nothing
	code  int
}

// record runs a server under strace, which gets more flags. Each client sends that many
// requests.
func record(t *testing.T, requests int, more ...string) recording {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := process.Command(t.TempDir(), append(traced(trace, more...), serverArgs(t)...)...)
	r := recording{store: filepath.Join(cmd.Dir, "petstore.db")}
	cmd.Args = append(cmd.Args, "-db="+r.store)
	var err error
	if r.Server, err = process.TryServe(t, cmd); err == nil {
		r.load = newLoad(t, r.Server, nil)
		r.requests, r.writes = requests, true
		r.start(writers, "w")
		r.wg.Wait()
		r.idle = time.Now()
		if r.others(http.StatusInsufficientStorage) == 0 { // otherwise the server ends by itself
			_ = r.Signal(syscall.SIGTERM)
		}
	}
	r.code = r.Wait()
	var text []byte
	for end := time.Now().Add(patience); !bytes.HasSuffix(text, []byte(" +++\n")) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text = process.ReadFile(t, trace)
	}
	r.calls = parseTrace(t, text)
	return r
}
