//go:build linux

package faulttest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

var (
	callForm   = regexp.MustCompile(`^([\d.]+) (\w+)\((.*) <([\d.]+)>$`) // with the time of its begin, and how long it took
	descriptor = regexp.MustCompile(`^\d+<([^>]*)>`)
	quoted     = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// readTrace returns the calls in the files of all threads, in the order of their times.
func readTrace(path string) (calls []call, err error) {
	threads, _ := filepath.Glob(path + ".*")
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(text, []byte(" +++\n")) {
			return nil, errors.New("the end of a thread is not recorded yet")
		}
		for line := range strings.Lines(string(text)) {
			m := callForm.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				continue // a signal, an exit
			}
			c, err := parseCall(m[2], m[3])
			if err != nil {
				return nil, fmt.Errorf("%w in the line %.200s", err, line)
			}
			// Both have six decimals.
			began, _ := strconv.ParseInt(strings.Replace(m[1], ".", "", 1), 10, 64)
			took, _ := strconv.ParseInt(strings.Replace(m[4], ".", "", 1), 10, 64)
			if c.at = time.UnixMicro(began); c.name == "fdatasync" || c.name == "fsync" {
				c.at = time.UnixMicro(began + took)
			}
			calls = append(calls, c)
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return a.at.Compare(b.at) })
	return calls, nil
}

func parseCall(name, args string) (c call, err error) {
	c.name, c.injected = name, strings.Contains(args, "(INJECTED)")
	if m := descriptor.FindStringSubmatch(args); m != nil {
		c.path = unescape(m[1])
	}
	texts := quoted.FindAllStringSubmatch(args, -1)
	switch {
	case name == "linkat" && len(texts) == 2:
		c.target = unescape(texts[1][1])
	case name == "pwrite64" && len(texts) == 1:
		c.data = []byte(unescape(texts[0][1]))
		rest := args[strings.LastIndex(args, `"`):]
		_, err = fmt.Sscanf(strings.ReplaceAll(rest, ",", " "), `" %d %d`, new(int64), &c.offset)
	case name == "ftruncate":
		_, rest, _ := strings.Cut(args, ">, ")
		_, err = fmt.Sscan(strings.ReplaceAll(rest, ")", " "), &c.offset)
	case name != "fdatasync" && name != "fsync":
		err = fmt.Errorf("%d texts", len(texts))
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
	*load
	started bool
	store   string // its path
	calls   []call
	idle    time.Time // since then the clients have sent nothing
	code    int
}

// record runs a server under strace, which gets more flags. Each client sends that many
// requests.
func record(t *testing.T, requests int, more ...string) recording {
	t.Helper()
	// There is a file for each thread, whose name begins with this path.
	trace := filepath.Join(t.TempDir(), "trace")
	strace := append([]string{"strace", "-D", "-ff", "-y", "-xx", "-ttt", "-T", "-s", "40000000", "-o", trace,
		"-e", "trace=pwrite64,ftruncate,fdatasync,fsync,linkat"}, more...)
	dir := t.TempDir()
	store := filepath.Join(dir, "petstore.db")
	s, err := process.TryServe(t, process.Command(dir, append(strace, serverArgs(t, "-db="+store)...)...))
	r := recording{Server: s, load: newLoad(t, s, nil), started: err == nil, store: store}
	if r.started {
		r.requests = requests
		r.start(writers, "w")
		r.wg.Wait()
		r.idle = time.Now()
		r.client.CloseIdleConnections()                    // for which the server would wait
		if r.others(http.StatusInsufficientStorage) == 0 { // otherwise the server ends by itself
			_ = r.Signal(syscall.SIGTERM)
		}
	}
	r.code = r.Wait()
	process.Eventually(t, "the trace", func() (err error) {
		r.calls, err = readTrace(trace)
		return err
	})
	return r
}
