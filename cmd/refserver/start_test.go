package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

func TestFirstStart(t *testing.T) {
	s := start(t, t.TempDir())
	out := s.Stdout.String()
	if n := strings.Count(out, s.Key); n != 2 {
		t.Fatalf("the key is printed %d times:\n%s", n, out)
	}
	if want := "curl -H 'Authorization: Bearer " + s.Key + "' " + s.URL + "/pets\n"; !strings.Contains(out, want) {
		t.Errorf("standard output lacks %q:\n%s", want, out)
	}
	if r := s.Must(200, "GET", "/pets", ""); r.Body != "[]" {
		t.Errorf("GET /pets: %s", r.Body)
	}
	for _, name := range []string{"petstore.db", "petstore.keys"} {
		fi, err := os.Stat(s.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, fi.Mode().Perm())
		}
	}
	if data := string(readFile(t, s.Path("petstore.keys"))); strings.Contains(data, s.Key) {
		t.Errorf("the key file has the key:\n%s", data)
	}
	s.Stop()

	again := start(t, s.Dir)
	if got := again.Stdout.String(); got != "" {
		t.Errorf("the second start printed:\n%s", got)
	}
	again.Must(200, "GET", "/pets", "")
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
		t.Errorf("the URL is %s; a flag goes before the environment", s.URL)
	}
	s.create("Rex")
	readFile(t, s.Path("x.db"))
	readFile(t, s.Path("x.keys"))
	if r := s.Must(404, "GET", "http://"+s.Host()+"/pets", ""); !strings.Contains(r.Body, `"status":404`) {
		t.Errorf("GET outside the base path: %s", r.Body)
	}
}

func TestMessagesAddr(t *testing.T) {
	s := start(t, t.TempDir(), "-messages-addr=127.0.0.1:0")
	key := []string{"Authorization", "Bearer " + s.Key}
	s.Must(202, "POST", s.Messages, `{"message":"hi"}`, key...)
	for _, elsewhere := range []string{s.URL + "/messages", strings.TrimSuffix(s.Messages, "/messages") + "/pets"} {
		s.Must(404, "POST", elsewhere, `{"message":"hi","name":"Rex","categoryId":1}`, key...)
	}
}

// Wrong use fails with one line that says what is wrong, and makes no files.
// What all programs have in common is tested in package flags, files that
// cannot be served in package faulttest.
func TestWrongUse(t *testing.T) {
	running := start(t, t.TempDir())
	dir := t.TempDir()
	file, badKeys, goodKeys := filepath.Join(dir, "file"), filepath.Join(dir, "bad.keys"), filepath.Join(dir, "good.keys")
	writeFile(t, file, []byte("not a store"))
	writeFile(t, badKeys, []byte("# fine\nnonsense\n"))
	writeFile(t, goodKeys, []byte("# no key\n"))
	const freeAddr = "-addr=127.0.0.1:0"

	tests := []struct {
		name string
		code int
		args []string
		want []string
	}{
		{"half a command", 2, []string{"keys"}, []string{"keys create, keys list, keys revoke"}},
		{"an argument too many", 2, []string{"serve", "now"}, []string{`unexpected argument "now"`}},
		{"bad base path", 2, []string{"-base-path=v1"}, []string{"-base-path", "like /v1"}},
		{"negative drain", 2, []string{"-drain=-1s"}, []string{"-drain"}},
		{"bad log", 2, []string{"-log=xml"}, []string{"-log", "text or json"}},
		{"bad sunset", 2, []string{"-sunset=later"}, []string{"-sunset", "serve or gone"}},
		{"address without a port", 2, []string{"-addr=127.0.0.1"}, []string{"-addr", "host:port"}},
		{"certificate without a key", 2, []string{"-tls-cert=x"}, []string{"-tls-cert and -tls-key"}},
		{"no such certificate", 1, []string{"-tls-cert=x", "-tls-key=y"}, []string{"-tls-cert", "no such file"}},
		{"port taken", 1, []string{"-addr=" + running.Host()}, []string{"-addr", running.Host(), "choose another"}},
		{"admin port taken", 1, []string{freeAddr, "-admin-addr=" + running.Host()}, []string{"-admin-addr", "choose another"}},
		{"a file for a directory", 1, []string{freeAddr, "-db=" + filepath.Join(file, "x.db")}, []string{"not a directory"}},
		{"malformed keys", 1, []string{freeAddr, "-new-store", "-keys=" + badKeys}, []string{"-keys", "bad.keys: line 2"}},
		{"keys in no directory", 1, []string{freeAddr, "-keys=" + filepath.Join(file, "x.keys")}, []string{"-keys", "not a directory"}},
		{"-new-store with -must-exist", 2, []string{"-new-store", "-must-exist"}, []string{"-new-store and -must-exist"}},
		{"no account", 2, []string{"keys", "create"}, []string{"ACCOUNT"}},
		{"bad account", 2, []string{"keys", "create", "a b"}, []string{"account: must"}},
		{"bad expiry", 2, []string{"keys", "create", "-expires=-1h", "alice"}, []string{"-expires"}},
		{"expiry too near", 2, []string{"keys", "create", "alice", "-expires=1ms"}, []string{"-expires", "at least 1s"}},
		{"list without a file", 1, []string{"keys", "list", "-keys=absent"}, []string{"absent", "keys create"}},
		{"revoke without a file", 1, []string{"keys", "revoke", "-keys=absent", "x"}, []string{"absent", "keys create"}},
		{"backup without an address", 2, []string{"backup", "copy.db"}, []string{"-admin-addr host:port"}},
		{"backup with a scheme", 2, []string{"backup", "-admin-addr=http://localhost", "copy.db"}, []string{"without a scheme"}},
		{"backup from the main address", 1, []string{"backup", "-admin-addr=" + running.Host(), "copy.db"}, []string{"is this the admin address"}},
		{"revoke nothing", 2, []string{"keys", "revoke"}, []string{"ID"}},
		{"revoke the unknown", 1, []string{"keys", "revoke", "-keys=" + goodKeys, "x"}, []string{"no key has this ID"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			code, stdout, stderr := process.Run(t, command(dir, tt.args...))
			if code != tt.code || stdout != "" {
				t.Errorf("exit code %d, want %d; standard output %q", code, tt.code, stdout)
			}
			oneLine(t, stderr, tt.want...)
			if files, _ := os.ReadDir(dir); len(files) != 0 {
				t.Errorf("it made %v", files)
			}
		})
	}
}

// Help and version are printed in every spelling.
func TestHelpAndVersion(t *testing.T) {
	version := `^refserver \S+ .*` + regexp.QuoteMeta(runtime.Version()) + `\n$`
	help := regexp.QuoteMeta("-keys file  (PETSTORE_KEYS)")
	for args, want := range map[string]string{
		"-version": version, "--version": version, "version": version,
		"-h": help, "--help": help, "help": help, "serve -h": help, "keys create -h": help,
	} {
		if stdout := succeeds(t, t.TempDir(), args); !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("refserver %s printed\n%s", args, stdout)
		}
	}
}

// A first key that cannot be printed is an error.
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
