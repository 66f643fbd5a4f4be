package main

import (
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

// TestScripts runs the scripts in testdata, each in a directory of its own. A
// line is one of these commands:
//
//	start FLAG...            starts a server on a free port; it is used from now on
//	stop, kill               ends the server
//	signal TERM|INT|HUP      sends a signal to the server
//	ends CODE                waits until the server ends with this exit code
//	begin, finish            send a request without its body, and the body
//	refserver ARG...         runs a command, which must succeed
//	CODE refserver ARG...    runs a command, which must end with this exit code;
//	                         if it fails, with one line, and with the same files
//	STATUS METHOD TARGET BODY FIELD VALUE...
//	                         sends a request; see [process.Server.Send]
//	until STATUS METHOD TARGET PATTERN FIELD VALUE...
//	                         sends requests until a response is like this; 0: until
//	                         there is none
//	env NAME=VALUE...        sets variables for later commands
//	write NAME TEXT, overwrite NAME OFFSET TEXT, rename OLD NEW,
//	symlink OLD NEW, mkdir NAME, remove NAME
//	                         change a file
//
// or compares a text with a pattern, which must not match after a !:
//
//	stdout, stderr PATTERN   what the last command has written, or the body of
//	                         the last response
//	log PATTERN              the server's log; waits until it matches
//	file NAME PATTERN        a file
//	files PATTERN            modes and paths of all files, one a line
//
// Commands must not write to standard error if they succeed, or to standard
// output if they fail, unless the next line is about that. $NAME stands for a
// value: DIR; URL, HOST, ADMIN, MESSAGES and KEY of the server; or what the group
// (?<NAME>) of an earlier pattern has matched. Quotes keep an argument with
// spaces together.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the scripts have slashes")
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			run(t, t.TempDir(), string(process.ReadFile(t, path)))
		})
	}
}

// script is a script while it runs.
type script struct {
	t              *testing.T
	dir            string
	env            []string
	server         *server
	begun          net.Conn // see begin
	values         map[string]string
	stdout, stderr string
	unexpected     *string // stdout or stderr, if it must be empty unless the next line is about it
}

// run runs a script in dir.
func run(t *testing.T, dir, text string) *script {
	t.Helper()
	s := &script{t: t, dir: dir, values: map[string]string{"DIR": dir}, unexpected: new(string)}
	for line := range strings.Lines(text + "\nend") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		name, not := strings.CutPrefix(name, "!")
		if !s.compare(line, name, rest, !not) {
			if *s.unexpected != "" {
				t.Errorf("before %q: unexpected output: %s", line, *s.unexpected)
			}
			s.unexpected = new(string)
			s.command(line, name, s.words(rest))
		}
	}
	return s
}

// compare compares a text with a pattern, if the line is about that.
func (s *script) compare(line, what, pattern string, want bool) bool {
	s.t.Helper()
	var text string
	switch what {
	case "stdout":
		text = s.stdout
		if s.unexpected == &s.stdout {
			s.unexpected = new(string)
		}
	case "stderr":
		text = s.stderr
		if s.unexpected == &s.stderr {
			s.unexpected = new(string)
		}
	case "log":
		if want {
			s.server.Until(line, func() bool { return s.matches(pattern, s.server.Stderr.String()) })
		}
		text = s.server.Stderr.String()
	case "file":
		name, rest, _ := strings.Cut(pattern, " ")
		pattern, text = rest, string(process.ReadFile(s.t, filepath.Join(s.dir, name)))
	case "files":
		text = strings.Join(tree(s.t, s.dir), "\n")
	default:
		return false
	}
	if s.matches(pattern, text) != want {
		s.t.Errorf("%s: it is\n%.2000q", line, text)
	}
	return true
}

func (s *script) matches(pattern, text string) bool {
	re := regexp.MustCompile(s.expand(pattern, regexp.QuoteMeta))
	m := re.FindStringSubmatch(text)
	for i, name := range re.SubexpNames() {
		if name != "" && m != nil {
			s.values[name] = m[i]
		}
	}
	return m != nil
}

// expand replaces each $NAME in text by its value, quoted.
func (s *script) expand(text string, quote func(string) string) string {
	for name, value := range s.values {
		text = strings.ReplaceAll(text, "$"+name, quote(value))
	}
	return text
}

var word = regexp.MustCompile(`('[^']*'|[^\s'])+`)

// words splits the rest of a line.
func (s *script) words(rest string) []string {
	words := word.FindAllString(s.expand(rest, strings.Clone), -1)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "'", "")
	}
	return words
}

func (s *script) command(line, name string, words []string) {
	s.t.Helper()
	path := func(i int) string { return filepath.Join(s.dir, words[i]) }
	var err error
	switch code, e := strconv.Atoi(name); {
	case e == nil && words[0] == "refserver":
		s.refserver(line, code, words[1:])
	case e == nil:
		s.send(line, code, words)
	case name == "until":
		code, err = strconv.Atoi(words[0])
		s.server.Until(line, func() bool {
			r, _ := s.server.Send(words[1], words[2], "", words[4:]...)
			return r.Status == code && s.matches(words[3], r.Body)
		})
	case name == "refserver":
		s.refserver(line, 0, words)
	case name == "start":
		cmd := command(s.dir, words...)
		cmd.Env = append(cmd.Env, s.env...)
		r := startCommand(s.t, cmd)
		s.server, s.stdout = r, r.Stdout.String()
		maps.Copy(s.values, map[string]string{"URL": r.URL, "HOST": r.Host(), "ADMIN": r.Admin, "MESSAGES": r.Messages, "KEY": r.Key})
	case name == "stop":
		s.server.Stop()
	case name == "kill":
		s.server.Kill()
	case name == "signal":
		err = s.server.Signal(map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP}[words[0]])
	case name == "ends":
		if got := s.server.Wait(); words[0] != strconv.Itoa(got) {
			s.t.Errorf("%s: exit code %d:\n%s", line, got, s.server.Tail())
		}
	case name == "begin":
		s.begun = begin(s.server)
	case name == "finish":
		finish(s.t, s.begun)
	case name == "env":
		s.env = append(s.env, words...)
	case name == "write":
		err = os.WriteFile(path(0), []byte(words[1]+"\n"), 0o600)
	case name == "overwrite":
		b := process.ReadFile(s.t, path(0))
		at, e := strconv.Atoi(words[1])
		copy(b[at:], words[2])
		process.WriteFile(s.t, path(0), b)
		err = e
	case name == "rename":
		err = os.Rename(path(0), path(1))
	case name == "symlink":
		err = os.Symlink(path(0), path(1))
	case name == "mkdir":
		err = os.Mkdir(path(0), 0o700)
	case name == "remove":
		err = os.Remove(path(0))
	case name != "end":
		s.t.Fatalf("%s: there is no such command", line)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
}

// refserver runs a command.
func (s *script) refserver(line string, code int, args []string) {
	s.t.Helper()
	before := tree(s.t, s.dir)
	cmd := command(s.dir, args...)
	cmd.Env = append(cmd.Env, s.env...)
	got, stdout, stderr := process.Run(s.t, cmd)
	s.stdout, s.stderr = stdout, stderr
	if got != code {
		s.t.Errorf("%s: exit code %d\n%s%s", line, got, stdout, stderr)
	}
	if code == 0 {
		s.unexpected = &s.stderr
		return
	}
	s.unexpected = &s.stdout
	oneLine(s.t, stderr)
	if diff := cmp.Diff(before, tree(s.t, s.dir)); diff != "" {
		s.t.Errorf("%s: it changed the files (-before +after):\n%s", line, diff)
	}
}

// send sends a request.
func (s *script) send(line string, status int, words []string) {
	s.t.Helper()
	words = append(words, "")
	fields := words[min(3, len(words)):]
	r, err := s.server.Send(words[0], words[1], words[2], fields[:len(fields)/2*2]...)
	if err != nil || r.Status != status {
		s.t.Errorf("%s: %d %s (%v)", line, r.Status, r.Body, err)
	}
	s.stdout = r.Body
}

// tree returns the modes and paths of everything in dir.
func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != "." {
			info, err := d.Info()
			files = append(files, info.Mode().String()+" "+path)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
