package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func TestBackup(t *testing.T) {
	s := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0")
	for i := range 3 {
		s.create(s.key, fmt.Sprint("pet ", i))
	}
	backup := func(args ...string) (int, string, string) {
		return run(t, s.dir, append([]string{"backup", "-admin-addr=" + strings.TrimPrefix(s.Admin, "http://")}, args...)...)
	}
	if code, stdout, stderr := backup("copy.db"); code != 0 || stderr != "" || !strings.HasPrefix(stdout, "copy.db: ") {
		t.Fatalf("exit code %d, %q, %q", code, stdout, stderr)
	}
	s.create(s.key, "later")
	code, _, stderr := backup("copy.db")
	if code != 1 {
		t.Errorf("over a file: exit code %d", code)
	}
	oneLine(t, stderr, "copy.db exists", "-overwrite")
	exported := func() string {
		code, stdout, stderr := run(t, s.dir, "export", "copy.db")
		if code != 0 || stderr != "" {
			t.Errorf("export: exit code %d, %q", code, stderr)
		}
		return stdout
	}
	if out := exported(); strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, `{"id":1,"name":"pet 0","categoryId":7}`+"\n") {
		t.Errorf("the export of the copy:\n%s", out)
	}
	if code, _, stderr = backup("-overwrite", "petstore.db"); code != 1 {
		t.Errorf("over the store in use: exit code %d", code)
	}
	oneLine(t, stderr, "petstore.db is in use")
	if code, _, stderr := backup("-overwrite", "copy.db"); code != 0 {
		t.Errorf("-overwrite: exit code %d, %s", code, stderr)
	}
	if out := exported(); strings.Count(out, "\n") != 4 {
		t.Errorf("the export of the second copy:\n%s", out)
	}
	if code, stdout, _ := run(t, s.dir, "check", "copy.db"); code != 0 || stdout != "copy.db is sound\n" {
		t.Errorf("check: exit code %d, %q", code, stdout)
	}
	for _, command := range []string{"check", "export"} {
		code, _, stderr := run(t, s.dir, command, "petstore.db")
		if want := map[string]int{"check": 2, "export": 1}[command]; code != want {
			t.Errorf("%s of a file in use: exit code %d", command, code)
		}
		oneLine(t, stderr, "petstore.db is in use", "backup")
	}
	s.stop()
	if code, _, stderr = backup("other.db"); code != 1 {
		t.Errorf("with no server: exit code %d", code)
	}
	oneLine(t, stderr, "no backup was made")
	if left, _ := os.ReadDir(s.dir); len(left) != 4 { // the store, the copy, the keys and their lock
		t.Errorf("the backups left %v", left)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/pets.db"
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	many := func(yield func(petstore.NewPet) bool) {
		for i := range 2000 {
			if !yield(petstore.NewPet{Name: fmt.Sprint("pet ", i), Status: petstore.StatusSold}) {
				return
			}
		}
	}
	if _, err := s.Load(context.Background(), many); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := run(t, dir, "check", "pets.db"); code != 0 || stdout != "pets.db is sound\n" {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8 * 4096; i < len(whole); i += 10 * 4096 {
		clear(whole[i : i+4096])
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, dir, "check", "pets.db")
	if code != 1 || !strings.Contains(stdout, "page ") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	oneLine(t, stderr, "pets.db is damaged", "-skip-damaged")
	code, _, stderr = run(t, dir, "export", "pets.db")
	if code != 1 {
		t.Errorf("export: exit code %d", code)
	}
	oneLine(t, stderr, "-skip-damaged")
	code, stdout, stderr = run(t, dir, "export", "-skip-damaged", "pets.db")
	saved := strings.Count(stdout, "\n")
	if want := fmt.Sprintf("%d saved, %d lost\n", saved, 2000-saved); code != 0 || saved == 0 || !strings.HasSuffix(stderr, want) {
		t.Errorf("export -skip-damaged: exit code %d, %d lines, %s", code, saved, stderr)
	}
	if code, _, stderr = run(t, dir, "check", "absent.db"); code != 2 {
		t.Errorf("check of no file: exit code %d", code)
	}
	oneLine(t, stderr, "absent.db")
}

// TestAcceptOlder damages each meta page in turn, after a crash.
func TestAcceptOlder(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	key := s.key
	s.create(key, "Rex")
	if code := s.signal(syscall.SIGKILL); code == 0 {
		t.Errorf("exit code %d", code)
	}
	code, stdout, stderr := run(t, dir, "accept-older", "petstore.db")
	if code != 1 || stdout != "" {
		t.Errorf("of a sound file: exit code %d, %q", code, stdout)
	}
	oneLine(t, stderr, "can be used as it is")
	file, err := os.OpenFile(s.path("petstore.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for page := range int64(2) { // one of them is the newer
		if _, err := file.WriteAt([]byte("damage"), page*4096+16+50); err != nil {
			t.Fatal(err)
		}
		code, _, stderr = run(t, dir, "-addr=127.0.0.1:0")
		if code != 1 {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		oneLine(t, stderr, "petstore.db", "refserver accept-older")
		code, stdout, stderr = run(t, dir, "check", "petstore.db")
		if code != 1 || !strings.Contains(stdout, "meta page") {
			t.Errorf("check: exit code %d, %q", code, stdout)
		}
		oneLine(t, stderr, "refserver accept-older petstore.db")
		code, stdout, stderr = run(t, dir, "export", "-skip-damaged", "petstore.db")
		if code != 0 || !strings.HasSuffix(stderr, "how many there were is not known\n") {
			t.Errorf("export: exit code %d, %q, %q", code, stdout, stderr)
		}
		code, stdout, stderr = run(t, dir, "accept-older", "petstore.db")
		if code != 0 || stderr != "" || !strings.Contains(stdout, " can be used again. Pets from ID ") {
			t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
		}
		s = start(t, dir)
		s.create(key, "Mia")
		s.signal(syscall.SIGKILL)
	}
}

// TestCheckClosed damages a meta page of a file that was closed.
func TestCheckClosed(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	s.create(s.key, "Rex")
	s.stop()
	file, err := os.ReadFile(s.path("petstore.db"))
	if err != nil {
		t.Fatal(err)
	}
	file[60] ^= 1
	if err := os.WriteFile(s.path("petstore.db"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, dir, "check", "petstore.db")
	if code != 1 {
		t.Errorf("check: exit code %d", code)
	}
	oneLine(t, stderr, "petstore.db has lost nothing: start the server")
	if code, stdout, stderr := run(t, dir, "export", "petstore.db"); code != 0 || strings.Count(stdout, "\n") != 1 || stderr != "" {
		t.Errorf("export: exit code %d, %q, %q", code, stdout, stderr)
	}
	start(t, dir).stop()
	if code, stdout, _ := run(t, dir, "check", "petstore.db"); code != 0 {
		t.Errorf("check after a start: exit code %d, %q", code, stdout)
	}
}

// What is no store has nothing to be restored.
func TestCheckForeign(t *testing.T) {
	dir := t.TempDir()
	for data, want := range map[string]string{
		"":                                      "pets.db is empty",
		strings.Repeat("not a store\n", 10_000): "pets.db is not a petstore",
	} {
		if err := os.WriteFile(dir+"/pets.db", []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := run(t, dir, "check", "pets.db")
		if code != 1 || strings.Contains(stderr, "backup") {
			t.Errorf("exit code %d, %s", code, stderr)
		}
		oneLine(t, stderr, want)
	}
}

// The process that reads the file may end however it likes, or not at all.
func TestCheckOutlivesItsChild(t *testing.T) {
	for how, want := range map[string]string{
		"hang":    "could not be checked in time",
		"recurse": "take it for damaged: the check ended with exit status 2 (runtime: goroutine stack exceeds",
		"swell":   "take it for damaged: the check ended with",
		"fault":   "take it for damaged: the check ended with",
	} {
		t.Run(how, func(t *testing.T) {
			if how == "swell" && runtime.GOOS != "linux" {
				t.Skip("there is no limit")
			}
			cmd := command(t.TempDir(), "check", "pets.db")
			if how == "hang" {
				cmd.Args = append(cmd.Args, "-timeout=100ms")
			}
			cmd.Env = append(cmd.Env, "REFSERVER_TEST_CHECK="+how)
			code, _, stderr := finish(t, cmd)
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			oneLine(t, stderr, "pets.db", want)
		})
	}
}
