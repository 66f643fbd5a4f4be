package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func TestBackup(t *testing.T) {
	s := start(t, t.TempDir(), "-admin-addr=127.0.0.1:0")
	for i := range 3 {
		s.create(fmt.Sprint("pet ", i))
	}
	backup := "backup -admin-addr=" + strings.TrimPrefix(s.Admin, "http://")
	if stdout := succeeds(t, s.Dir, backup+" copy.db"); !strings.HasPrefix(stdout, "copy.db: ") {
		t.Errorf("backup printed %q", stdout)
	}
	s.create("later")
	fails(t, s.Dir, backup+" copy.db", 1, "copy.db exists", "-overwrite")
	if out := succeeds(t, s.Dir, "export copy.db"); strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, `{"id":1,"name":"pet 0","categoryId":7}`+"\n") {
		t.Errorf("the export of the copy:\n%s", out)
	}
	fails(t, s.Dir, backup+" -overwrite petstore.db", 1, "petstore.db is in use")
	succeeds(t, s.Dir, backup+" -overwrite copy.db")
	if out := succeeds(t, s.Dir, "export copy.db"); strings.Count(out, "\n") != 4 {
		t.Errorf("the export of the second copy:\n%s", out)
	}
	if out := succeeds(t, s.Dir, "check copy.db"); out != "copy.db is sound\n" {
		t.Errorf("check printed %q", out)
	}
	fails(t, s.Dir, "check petstore.db", 2, "petstore.db is in use", "backup")
	fails(t, s.Dir, "export petstore.db", 1, "petstore.db is in use", "backup")
	s.Stop()
	fails(t, s.Dir, backup+" other.db", 1, "no backup was made")
	if files, _ := os.ReadDir(s.Dir); len(files) != 4 { // the store, the copy, the keys and their lock
		t.Errorf("the backups left %v", files)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/pets.db"
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(t.Context(), func(yield func(petstore.NewPet) bool) {
		for i := 0; i < 2000 && yield(petstore.NewPet{Name: fmt.Sprint("pet ", i), Status: petstore.StatusSold}); i++ {
		}
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if out := succeeds(t, dir, "check pets.db"); out != "pets.db is sound\n" {
		t.Errorf("check printed %q", out)
	}
	file := readFile(t, path)
	for i := 8 * 4096; i < len(file); i += 10 * 4096 {
		clear(file[i : i+4096])
	}
	writeFile(t, path, file)
	if out := fails(t, dir, "check pets.db", 1, "pets.db is damaged", "-skip-damaged"); !strings.Contains(out, "page ") {
		t.Errorf("check of a damaged file printed %q", out)
	}
	fails(t, dir, "export pets.db", 1, "-skip-damaged")
	code, stdout, stderr := run(t, dir, "export -skip-damaged pets.db")
	saved := strings.Count(stdout, "\n")
	if want := fmt.Sprintf("%d saved, %d lost\n", saved, 2000-saved); code != 0 || saved == 0 || !strings.HasSuffix(stderr, want) {
		t.Errorf("export -skip-damaged: exit code %d, %d lines, %s", code, saved, stderr)
	}
	fails(t, dir, "check absent.db", 2, "absent.db")

	// A file that is not a store has nothing to restore.
	for data, want := range map[string]string{
		"":                                      "pets.db is empty",
		strings.Repeat("not a store\n", 10_000): "pets.db is not a petstore",
	} {
		writeFile(t, path, []byte(data))
		if _, _, stderr := run(t, dir, "check pets.db"); strings.Contains(stderr, "backup") {
			t.Errorf("check of a file that is not a store: %s", stderr)
		}
		fails(t, dir, "check pets.db", 1, want)
	}
}

// After a crash, a damaged meta page makes the server refuse the file until the
// older state is accepted.
func TestAcceptOlder(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	s.create("Rex")
	s.Kill()
	if out := fails(t, dir, "accept-older petstore.db", 1, "can be used as it is"); out != "" {
		t.Errorf("accept-older of a sound file printed %q", out)
	}
	for page := range 2 { // one of them is the newer
		file := readFile(t, s.Path("petstore.db"))
		copy(file[page*4096+16+50:], "damage")
		writeFile(t, s.Path("petstore.db"), file)
		fails(t, dir, "-addr=127.0.0.1:0", 1, "petstore.db", "refserver accept-older")
		if out := fails(t, dir, "check petstore.db", 1, "refserver accept-older petstore.db"); !strings.Contains(out, "meta page") {
			t.Errorf("check printed %q", out)
		}
		if code, stdout, stderr := run(t, dir, "export -skip-damaged petstore.db"); code != 0 || !strings.HasSuffix(stderr, "how many there were is not known\n") {
			t.Errorf("export: exit code %d, %q, %q", code, stdout, stderr)
		}
		if out := succeeds(t, dir, "accept-older petstore.db"); !strings.Contains(out, " can be used again. Pets from ID ") {
			t.Errorf("accept-older printed %q", out)
		}
		s = start(t, dir)
		s.create("Mia")
		s.Kill()
	}
}

// After a stop, a damaged meta page loses nothing.
func TestCheckStopped(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	s.create("Rex")
	s.Stop()
	file := readFile(t, s.Path("petstore.db"))
	file[60] ^= 1
	writeFile(t, s.Path("petstore.db"), file)
	fails(t, dir, "check petstore.db", 1, "petstore.db has lost nothing: start the server")
	if out := succeeds(t, dir, "export petstore.db"); strings.Count(out, "\n") != 1 {
		t.Errorf("export printed %q", out)
	}
	start(t, dir).Stop()
	succeeds(t, dir, "check petstore.db")
}
