package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestFirstStart(t *testing.T) {
	s := start(t, t.TempDir())
	out := s.Stdout.String()
	if n := strings.Count(out, s.key); s.key == "" || n != 2 {
		t.Fatalf("the key is shown %d times:\n%s", n, out)
	}
	if want := "curl -H 'Authorization: Bearer " + s.key + "' " + s.URL + "/pets\n"; !strings.Contains(out, want) {
		t.Errorf("standard output lacks %q:\n%s", want, out)
	}
	if r := s.do("GET", s.URL+"/pets", s.key, ""); r.status != 200 || r.body != "[]" {
		t.Errorf("GET /pets: %d %s", r.status, r.body)
	}
	for _, name := range []string{"petstore.db", "petstore.keys"} {
		fi, err := os.Stat(s.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, fi.Mode().Perm())
		}
	}
	data, err := os.ReadFile(s.path("petstore.keys"))
	if err != nil || strings.Contains(string(data), s.key) {
		t.Errorf("the key file: %v\n%s", err, data)
	}
	s.stop()

	again := start(t, s.dir)
	if got := again.Stdout.String(); got != "" {
		t.Errorf("the second start printed:\n%s", got)
	}
	if r := again.do("GET", again.URL+"/pets", s.key, ""); r.status != 200 {
		t.Errorf("GET /pets with the first start's key: %d", r.status)
	}
	for _, log := range []string{s.Stderr.String(), again.Stderr.String()} {
		if strings.Contains(log, "petstore_") {
			t.Errorf("a key was logged:\n%s", log)
		}
	}
}

func TestBasePathAndEnvironment(t *testing.T) {
	cmd := command(t.TempDir(), "-base-path=/store/v2")
	cmd.Env = append(cmd.Env, "PETSTORE_ADDR=127.0.0.1:0", "PETSTORE_BASE_PATH=/ignored", "PETSTORE_DB=x.db", "PETSTORE_KEYS=x.keys", "PETSTORE_LOG=")
	s := startCommand(t, cmd)
	if !strings.HasSuffix(s.URL, "/store/v2") {
		t.Errorf("the URL is %s: a flag goes before the environment", s.URL)
	}
	s.create(s.key, "Rex")
	for _, name := range []string{"x.db", "x.keys"} {
		if _, err := os.Stat(s.path(name)); err != nil {
			t.Error(err)
		}
	}
	if r := s.do("GET", "http://"+s.host()+"/pets", s.key, ""); r.status != 404 || !strings.Contains(r.body, `"status":404`) {
		t.Errorf("GET outside the base path: %d %s", r.status, r.body)
	}
}

func TestMessagesAddr(t *testing.T) {
	s := start(t, t.TempDir(), "-messages-addr=127.0.0.1:0")
	if r := s.do("POST", s.Messages, s.key, `{"message":"hi"}`); r.status != 202 {
		t.Errorf("POST %s: %d %s", s.Messages, r.status, r.body)
	}
	for _, elsewhere := range []string{s.URL + "/messages", strings.TrimSuffix(s.Messages, "/messages") + "/pets"} {
		if r := s.do("POST", elsewhere, s.key, `{"message":"hi","name":"Rex","categoryId":1}`); r.status != 404 {
			t.Errorf("POST %s: %d %s", elsewhere, r.status, r.body)
		}
	}
}

// Wrong use ends at once with one line that says what is wrong.
func TestWrongUse(t *testing.T) {
	running := start(t, t.TempDir())
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := write("foreign", strings.Repeat("not a store\n", 10_000))
	badKeys := write("bad.keys", "# fine\nnonsense\n")
	goodKeys := write("good.keys", "# no key\n")
	const freeAddr = "-addr=127.0.0.1:0"

	tests := []struct {
		name string
		code int
		args []string
		want []string
	}{
		{"unknown flag", 2, []string{"-port=1"}, []string{"-port", "refserver -h"}},
		{"unknown command", 2, []string{"start"}, []string{`unknown command "start"`}},
		{"half a command", 2, []string{"keys"}, []string{"keys create, keys list, keys revoke"}},
		{"an argument too many", 2, []string{"serve", "now"}, []string{`unexpected argument "now"`}},
		{"bad base path", 2, []string{"-base-path=v1"}, []string{"-base-path", "like /v1"}},
		{"bad drain", 2, []string{"-drain=soon"}, []string{"-drain"}},
		{"drain without a unit", 2, []string{"-drain=5"}, []string{"-drain", "unit", "5s"}},
		{"negative drain", 2, []string{"-drain=-1s"}, []string{"-drain"}},
		{"bad log", 2, []string{"-log=xml"}, []string{"-log", "text or json"}},
		{"bad sunset", 2, []string{"-sunset=later"}, []string{"-sunset", "serve or gone"}},
		{"address without a port", 2, []string{"-addr=127.0.0.1"}, []string{"-addr", "host:port"}},
		{"certificate without a key", 2, []string{"-tls-cert=x"}, []string{"-tls-cert and -tls-key"}},
		{"no such certificate", 1, []string{"-tls-cert=x", "-tls-key=y"}, []string{"-tls-cert", "no such file"}},
		{"port taken", 1, []string{"-addr=" + running.host()}, []string{"-addr", running.host(), "choose another"}},
		{"admin port taken", 1, []string{freeAddr, "-admin-addr=" + running.host()}, []string{"-admin-addr", "choose another"}},
		{"locked file", 1, []string{freeAddr, "-db=" + running.path("petstore.db")}, []string{"petstore.db", "in use", "-db"}},
		{"foreign file", 1, []string{freeAddr, "-db=" + foreign}, []string{foreign}},
		{"a directory for a file", 1, []string{freeAddr, "-db=" + dir}, []string{dir}},
		{"a file for a directory", 1, []string{freeAddr, "-db=" + filepath.Join(foreign, "x.db")}, []string{"not a directory"}},
		{"malformed keys", 1, []string{freeAddr, "-new-store", "-keys=" + badKeys}, []string{"-keys", "bad.keys: line 2"}},
		{"keys in no directory", 1, []string{freeAddr, "-keys=" + filepath.Join(foreign, "x.keys")}, []string{"-keys", "not a directory"}},
		{"-new-store with -must-exist", 2, []string{"-new-store", "-must-exist"}, []string{"-new-store and -must-exist"}},
		{"no account", 2, []string{"keys", "create"}, []string{"ACCOUNT"}},
		{"bad account", 2, []string{"keys", "create", "a b"}, []string{"account: must"}},
		{"bad expiry", 2, []string{"keys", "create", "-expires=-1h", "alice"}, []string{"-expires"}},
		{"expiry too near", 2, []string{"keys", "create", "alice", "-expires=1ms"}, []string{"-expires", "at least 1s"}},
		{"list without a file", 1, []string{"keys", "list", "-keys=absent"}, []string{"absent", "keys create"}},
		{"revoke without a file", 1, []string{"keys", "revoke", "-keys=absent", "x"}, []string{"absent", "keys create"}},
		{"expiry in days", 2, []string{"keys", "create", "-expires=30d", "alice"}, []string{"-expires", "h, m, s"}},
		{"backup without an address", 2, []string{"backup", "copy.db"}, []string{"-admin-addr host:port"}},
		{"backup with a scheme", 2, []string{"backup", "-admin-addr=http://localhost", "copy.db"}, []string{"without a scheme"}},
		{"backup from the main address", 1, []string{"backup", "-admin-addr=" + running.host(), "copy.db"}, []string{"is this the admin address"}},
		{"revoke nothing", 2, []string{"keys", "revoke"}, []string{"ID"}},
		{"revoke the unknown", 1, []string{"keys", "revoke", "-keys=" + goodKeys, "x"}, []string{"no key has this ID"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, t.TempDir(), tt.args...)
			if code != tt.code || stdout != "" {
				t.Errorf("exit code %d, want %d; standard output %q", code, tt.code, stdout)
			}
			oneLine(t, stderr, tt.want...)
		})
	}
}

func TestWrongEnvironment(t *testing.T) {
	cmd := command(t.TempDir())
	cmd.Env = append(cmd.Env, "PETSTORE_ACCESS_LOG=perhaps")
	code, _, stderr := finish(t, cmd)
	if code != 2 {
		t.Errorf("exit code %d", code)
	}
	oneLine(t, stderr, "PETSTORE_ACCESS_LOG", "perhaps")
}

func TestUnwritableDirectory(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is unwritable for this user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, dir, "-addr=127.0.0.1:0")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	oneLine(t, stderr, "permission denied")
}

// A server that cannot start leaves no key behind that nobody has seen.
func TestNoKeyForAServerThatCannotStart(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dir := t.TempDir()
	if code, _, _ := run(t, dir, "-addr="+ln.Addr().String()); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files were made", len(left))
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}, {"serve", "-h"}, {"keys", "create", "-h"}} {
		code, stdout, stderr := run(t, t.TempDir(), args...)
		if code != 0 || stderr != "" || !strings.Contains(stdout, "-keys file  (PETSTORE_KEYS)") {
			t.Errorf("%v: exit code %d, standard error %q, standard output:\n%s", args, code, stderr, stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"-version", "--version", "version"} {
		code, stdout, stderr := run(t, t.TempDir(), arg)
		form := regexp.MustCompile(`^refserver \S+ .*` + regexp.QuoteMeta(runtime.Version()) + `\n$`)
		if code != 0 || stderr != "" || !form.MatchString(stdout) {
			t.Errorf("%s: exit code %d, %q, %q", arg, code, stdout, stderr)
		}
	}
}

// A first key that nobody can have seen is told of.
func TestFirstKeyThatCannotBePrinted(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"-addr=127.0.0.1:0"}, {"keys", "create", "alice"}} {
		cmd := command(t.TempDir(), args...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = full, &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%v: %v", args, err)
		}
		oneLine(t, stderr.String(), "could not be printed")
	}
}
