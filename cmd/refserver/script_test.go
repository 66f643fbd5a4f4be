package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

// TestScripts runs the scripts in testdata, each in a directory of its own. A
// line is one of these commands:
//
//	start FLAG...            starts a server on a free port; it is used from now on
//	under TEXT FLAG...       starts one from a shell, after the commands TEXT
//	stop, kill               ends the server
//	ends CODE                waits until the server ends with this exit code
//	begin, finish            send a request without its body, and the body
//	refserver ARG...         runs a command, which must succeed
//	CODE refserver ARG...    runs a command, which must end with this exit code; if
//	                         that is not 0, it prints one line and changes no file
//	sh TEXT                  runs shell commands, which must succeed; refserver is one
//	STATUS METHOD TARGET BODY FIELD VALUE...
//	                         sends a request; see [process.Server.Send]
//	until STATUS METHOD TARGET PATTERN FIELD VALUE...
//	                         sends requests until a response has this status and a
//	                         body that matches; 0: until there is no response
//	follow HEADING           runs the indented lines under a heading of
//	                         docs/operations.md, as sh and, for the last, as start;
//	                         "exit code N" in a comment is what the command ends with
//	env NAME=VALUE...        sets variables for later commands
//	certificate              writes a new pair, cert.pem and key.pem; from now on
//	                         requests trust no other certificate
//
// or compares a text with a pattern, which must not match after a !:
//
//	stdout, stderr PATTERN   what the last command has written, or the body of
//	                         the last response
//	log PATTERN              the server's log; waits until it matches
//	files PATTERN            modes and paths of all files, one a line
//
// Commands must not write to standard error if they succeed, or to standard
// output if they fail, unless the next line compares what they wrote. $NAME stands for a
// value: DIR; URL, HOST, ADMIN, KEY and PID of the server; or what the
// group (?<NAME>) of an earlier pattern has matched. Quotes keep an argument with
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
	server         *process.Server
	trusted        *tls.Config // see certificate
	begun          net.Conn    // see begin
	values         map[string]string
	stdout, stderr string
	unexpected     *string // stdout or stderr: it must be empty unless the next line compares it
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
			s.command(line, name, rest)
		}
	}
	return s
}

// compare compares a text with a pattern, if the line is about that.
func (s *script) compare(line, what, pattern string, want bool) bool {
	s.t.Helper()
	texts := map[string]*string{"stdout": &s.stdout, "stderr": &s.stderr, "log": new(string), "files": new(string)}
	text := texts[what]
	switch {
	case text == nil:
		return false
	case what == "log":
		if want {
			s.server.Until(line, func() bool { return s.matches(pattern, s.server.Stderr.String()) })
		}
		*text = s.server.Stderr.String()
	case what == "files":
		*text = strings.Join(tree(s.t, s.dir), "\n")
	case s.unexpected == text:
		s.unexpected = new(string)
	}
	if s.matches(pattern, *text) != want {
		s.t.Errorf("%s: it is\n%.2000q", line, *text)
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

func (s *script) command(line, name, rest string) {
	s.t.Helper()
	words := s.words(rest)
	code, err := strconv.Atoi(name)
	if err == nil && words[0] != "refserver" {
		s.send(line, code, words)
		return
	} else if err == nil {
		name, words = words[0], words[1:]
	}
	switch name {
	case "start":
		s.start(command(s.dir, words...))
	case "under":
		s.start(shell(words[0]+`; exec "$0" "$@"`, command(s.dir, words[1:]...)))
	case "stop":
		s.server.Stop()
	case "kill":
		s.server.Kill()
	case "ends":
		if got := s.server.Wait(); words[0] != strconv.Itoa(got) {
			s.t.Errorf("%s: exit code %d:\n%s", line, got, s.server.Tail())
		}
	case "begin":
		s.begun = begin(s.t, s.server)
	case "finish":
		finish(s.t, s.begun)
	case "refserver":
		s.run(line, code, command(s.dir, words...))
	case "sh":
		s.run(line, 0, shell(`refserver() { "$0" "$@"; }; `+s.expand(rest, strings.Clone), command(s.dir)))
	case "until":
		code, _ := strconv.Atoi(words[0])
		s.server.Until(line, func() bool {
			r, _ := s.server.Send(words[1], words[2], "", words[4:]...)
			return r.Status == code && s.matches(words[3], r.Body)
		})
	case "follow":
		s.follow(rest)
	case "env":
		s.env = append(s.env, words...)
	case "certificate":
		s.trusted = &tls.Config{RootCAs: x509.NewCertPool()}
		s.trusted.RootCAs.AddCert(process.Certificate(s.t, s.dir))
		s.trust()
	case "end":
	default:
		s.t.Fatalf("%s: there is no such command", line)
	}
}

// follow runs the commands under a heading of the documentation.
func (s *script) follow(heading string) {
	s.t.Helper()
	_, text, _ := strings.Cut(string(process.ReadFile(s.t, "../../docs/operations.md")), "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	commands := regexp.MustCompile(`(?m)^    (.*?)(?: +# (?:exit code (\d))?.*)?$`).FindAllStringSubmatch(text, -1)
	for i, c := range commands {
		if i == len(commands)-1 {
			s.start(command(s.dir, strings.Fields(c[1])[1:]...))
			return
		}
		s.command(c[0], "sh", fmt.Sprintf("%s; test $? -eq 0%s", c[1], c[2]))
		s.unexpected = new(string)
	}
	s.t.Errorf("docs/operations.md has no commands under %q", heading)
}

// shell returns a command that runs text in a shell, where "$0" "$@" is cmd.
func shell(text string, cmd *exec.Cmd) *exec.Cmd {
	sh := process.Command(cmd.Dir, append([]string{"sh", "-c", text}, cmd.Args...)...)
	sh.Env = cmd.Env
	return sh
}

// start starts a server.
func (s *script) start(cmd *exec.Cmd) {
	s.t.Helper()
	cmd.Env = append(cmd.Env, s.env...)
	s.server = process.Serve(s.t, cmd)
	s.trust()
	s.stdout = s.server.Stdout.String()
	maps.Copy(s.values, map[string]string{"URL": s.server.URL, "HOST": s.server.Host(), "ADMIN": s.server.Admin,
		"KEY": s.server.Key, "PID": strconv.Itoa(s.server.Pid())})
}

// trust makes requests use HTTP/2 and trust the script's certificate, if it has
// one.
func (s *script) trust() {
	if s.trusted != nil && s.server != nil {
		s.server.Client.Transport = &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: s.trusted}
	}
}

// run runs a command.
func (s *script) run(line string, code int, cmd *exec.Cmd) {
	s.t.Helper()
	before := tree(s.t, s.dir)
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

// begin sends a request without its body, and waits until the server has it.
func begin(t *testing.T, s *process.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.Key+"\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: 30\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		t.Fatalf("response to the header: %q, %v", line, err)
	}
	return conn
}

// finish sends the body of a request that was begun. The pet must be created.
func finish(t *testing.T, conn net.Conn) {
	t.Helper()
	_, _ = io.WriteString(conn, `{"name":"slow","categoryId":1}`)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusCreated || !resp.Close {
		t.Errorf("the request in flight: %s, Connection: close %v", resp.Status, resp.Close)
	}
}
