package process

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var built struct {
	sync.Mutex
	dir string
}

// Build builds the command of that import path, once in a test process, and
// returns the path of the executable. A path that begins with a dot is the directory
// of a command, which may be in another module. The package's TestMain must call [Main].
func Build(t testing.TB, pkg string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "process-test-*")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
	}
	exe := filepath.Join(built.dir, path.Base(pkg))
	if _, err := os.Stat(exe); err == nil {
		return exe
	}
	dir := "."
	if strings.HasPrefix(pkg, ".") {
		dir, pkg = pkg, "."
	}
	if out, err := exec.Command("go", "build", "-C", dir, "-o", exe, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return exe
}

// Main runs the tests, removes what [Build] built, and returns the exit code.
func Main(m *testing.M) int {
	defer func() {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
	}()
	return m.Run()
}

// Run runs a command until it ends, as [Process.Wait] does. Some commands compile
// programs, install packages or judge a server, so the limit is longer than Patience.
func Run(t testing.TB, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return p.wait(5 * Patience), p.Stdout.String(), p.Stderr.String()
}

// Server is a reference server that a test has started. Methods without an
// error end the test where they fail.
type Server struct {
	*Process
	URL      string       // with the base path
	Admin    string       // the URL of the admin address; "": it has none
	Messages string       // the base URL of messages, if it is another; otherwise ""
	Dir      string       // the working directory
	Key      string       // for requests; "" if no server printed one in the directory
	Client   *http.Client // for requests; it keeps no connections, which a server that stops waits for

	t testing.TB
}

var (
	servingForm = regexp.MustCompile(`serving url=(\S+)(?: messages=(\S+))?(?: admin=(\S+))?.*\n`)
	keyForm     = regexp.MustCompile(`petstore_[a-z2-7]{26}`)

	keys sync.Map // API keys by directory
)

// Serve starts cmd, a server that logs as text, and returns when it serves. It
// is killed at the end of the test. The later servers in its directory have the API
// key that it printed.
func Serve(t testing.TB, cmd *exec.Cmd) *Server {
	t.Helper()
	s, err := TryServe(t, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TryServe is Serve for a server that may end before it serves. The server is
// returned with the error.
func TryServe(t testing.TB, cmd *exec.Cmd) (*Server, error) {
	t.Helper()
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	s := &Server{Process: p, Dir: cmd.Dir, t: t,
		Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: AnyCertificate()}, Timeout: Patience}}
	err = p.Until("it serves", func() bool {
		log := p.Stderr.String()
		key := keyForm.FindString(p.Stdout.String())
		m := servingForm.FindStringSubmatch(log)
		if m == nil || strings.Contains(log, " keys=new ") && key == "" {
			return false
		}
		s.URL, s.Messages, s.Admin = m[1], m[2], m[3]
		if key != "" {
			keys.Store(s.Dir, key)
		}
		return true
	})
	if key, ok := keys.Load(s.Dir); ok {
		s.Key = key.(string)
	}
	return s, err
}

// AnyCertificate returns the configuration of a client that accepts every certificate.
func AnyCertificate() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// Host returns the host and port of the main address.
func (s *Server) Host() string { return strings.Split(s.URL, "/")[2] }

// Path returns the path of a file in the server's directory.
func (s *Server) Path(name string) string { return filepath.Join(s.Dir, name) }

// Until waits as [Process.Until] does.
func (s *Server) Until(what string, ok func() bool) {
	s.t.Helper()
	if err := s.Process.Until(what, ok); err != nil {
		s.t.Fatal(err)
	}
}

// Stop stops the server with SIGTERM. The exit code must be 0.
func (s *Server) Stop() {
	s.t.Helper()
	_ = s.Signal(syscall.SIGTERM) // fails if it has ended
	if code := s.Wait(); code != 0 {
		s.t.Fatalf("the server ended with exit code %d:\n%s", code, s.Tail())
	}
}

// Metric returns the value of a metric on the admin address. The name includes the
// labels, as in the text.
func (s *Server) Metric(name string) float64 {
	s.t.Helper()
	text := s.Must(http.StatusOK, "GET", s.Admin+"/metrics", "").Body
	_, after, _ := strings.Cut("\n"+text, "\n"+name+" ")
	value, _, _ := strings.Cut(after, "\n")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		s.t.Fatalf("no value of %s in\n%s", name, text)
	}
	return v
}

// Response is an HTTP response with its whole body.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Send sends a request. A target that starts with a slash is below the base
// path and requested with the key; any other one is a URL, requested without.
// A body is sent as JSON. The header fields are pairs of name and value; an
// empty value removes the field.
func (s *Server) Send(method, target, body string, fields ...string) (Response, error) {
	withKey := strings.HasPrefix(target, "/")
	if withKey {
		target = s.URL + target
	}
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	if withKey {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
		if fields[i] == "Host" {
			req.Host = fields[i+1]
		}
		if fields[i+1] == "" {
			req.Header.Del(fields[i])
		}
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return Response{resp.StatusCode, resp.Header, string(b)}, err
}

// Must sends a request as [Server.Send] does. The response must have that
// status.
func (s *Server) Must(status int, method, target, body string, fields ...string) Response {
	s.t.Helper()
	r, err := s.Send(method, target, body, fields...)
	if err != nil || r.Status != status {
		s.t.Fatalf("%s %.100s: %d %.300s (%v), want status %d", method, target, r.Status, r.Body, err, status)
	}
	return r
}
