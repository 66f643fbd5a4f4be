package process

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain makes the test binary the servers of the tests too.
func TestMain(m *testing.M) {
	switch os.Getenv("PROCESS_TEST") {
	case "serve":
		serve()
	case "fail":
		fmt.Fprintln(os.Stderr, "refserver: -addr: port 80 is taken")
		os.Exit(1)
	}
	os.Exit(Main(m))
}

const testKey = "petstore_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// serve is a server that prints a key on its first start in a directory, and
// responds with what it received.
func serve() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	store := "existing"
	if os.Mkdir("store", 0o700) == nil {
		store = "new"
		fmt.Println("the key is", testKey)
	}
	fmt.Fprintf(os.Stderr, "msg=serving url=http://%s/v1 admin=http://127.0.0.1:1 keys=%s schema=1\n", ln.Addr(), store)
	panic(http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.URL, r.Host, r.Header.Get("Authorization"), r.Header.Get("Content-Type"))
	})))
}

func testCommand(t *testing.T, dir, does string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command(dir, exe)
	cmd.Env = Environ("PROCESS_TEST=" + does)
	return cmd
}

// A test that cannot start its server must show what the server has written.
func TestServerFailsToStart(t *testing.T) {
	s, err := TryServe(t, testCommand(t, t.TempDir(), "fail"))
	want := "the process ended with exit code 1 before it serves:\nrefserver: -addr: port 80 is taken"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if code := s.Wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	for _, start := range []string{"first", "second"} { // the second prints no key
		s := Serve(t, testCommand(t, dir, "serve"))
		for _, tt := range []struct {
			name, target string
			fields       []string
			want         string
		}{
			{"below the base path", "/pets", nil, "/v1/pets " + s.Host() + " Bearer " + testKey + " application/json\n"},
			{"without the key", "/pets", []string{"Authorization", ""}, "/v1/pets " + s.Host() + "  application/json\n"},
			{"another host", "/pets", []string{"Host", "h", "Authorization", "k"}, "/v1/pets h k application/json\n"},
			{"URL", "http://" + s.Host() + "/healthz", nil, "/healthz " + s.Host() + "  application/json\n"},
		} {
			if r := s.Must(200, "POST", tt.target, "{}", tt.fields...); r.Body != tt.want {
				t.Errorf("%s start, %s: %q, want %q", start, tt.name, r.Body, tt.want)
			}
		}
		s.Kill()
		if code := s.Wait(); code == 0 || s.Running() {
			t.Errorf("killed: exit code %d, running %v", code, s.Running())
		}
	}
}

// A process that ended has written everything there will be.
func TestUntilOutputOfEndedProcess(t *testing.T) {
	p, err := Start(testCommand(t, t.TempDir(), "fail"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended
	if err := p.Until("the log is there", func() bool { return strings.Contains(p.Log(), "port 80") }); err != nil {
		t.Error(err)
	}
}
