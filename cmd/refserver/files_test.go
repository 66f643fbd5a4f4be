package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/internal/process"
)

// tree returns the paths of everything in dir.
func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestMissingFiles starts servers where the store, the key file or both are
// missing. A server that refuses to start must make nothing, not even a folder.
func TestMissingFiles(t *testing.T) {
	made := start(t, t.TempDir())
	made.create(made.key, "Rex")
	made.stop()

	const store, keys = "petstore.db", "petstore.keys"
	tests := []struct {
		name  string
		there []string // the files that exist
		args  []string
		line  string   // a pattern in the start line of a server that starts
		says  []string // parts of the error of one that does not; FOLDER stands for its folder
	}{
		{"neither", nil, nil, "store=new .* pets=0 ", nil},
		{"neither, -new-store", nil, []string{"-new-store"}, "store=new .* pets=0 ", nil},
		{"neither, -must-exist", nil, []string{"-must-exist"}, "", []string{"-must-exist", "there is no store FOLDER", "-db"}},
		{"both", []string{store, keys}, nil, "store=existing .* pets=1 ", nil},
		{"both, -must-exist", []string{store, keys}, []string{"-must-exist"}, "store=existing .* pets=1 ", nil},
		{"both, -new-store", []string{store, keys}, []string{"-new-store"}, "", []string{"there is a store FOLDER", "without -new-store"}},
		{"keys only", []string{keys}, nil, "", []string{"there is no store FOLDER", "-db", "-new-store makes an empty store"}},
		{"keys only, -must-exist", []string{keys}, []string{"-must-exist"}, "", []string{"-must-exist", "there is no store FOLDER"}},
		{"keys only, -new-store", []string{keys}, []string{"-new-store"}, "store=new .* pets=0 ", nil},
		{"store only", []string{store}, nil, "", []string{"there is no key file FOLDER", "refserver keys create -keys 'FOLDER" + string(filepath.Separator) + keys + "' default"}},
		{"store only, -must-exist", []string{store}, []string{"-must-exist"}, "", []string{"refserver keys create"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder := filepath.Join(dir, "its data")
			for _, name := range tt.there {
				b, err := os.ReadFile(made.path(name))
				if err == nil {
					err = os.MkdirAll(folder, 0o700)
				}
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			p, err := process.Start(command(dir, append(tt.args,
				"-addr=127.0.0.1:0", "-db="+filepath.Join("its data", store), "-keys="+filepath.Join("its data", keys))...))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			_, err = p.Serving()
			log := p.Stderr.String()
			if tt.line != "" {
				form := `msg=serving url=\S+ ` + tt.line + `schema=\d+ version=.*go1`
				if err != nil || !regexp.MustCompile(form).MatchString(log) || !strings.Contains(log, filepath.Join(folder, store)) {
					t.Errorf("the log is not of the form %q, with the store's file in %s:\n%s", form, folder, log)
				}
				return
			}
			if err == nil {
				t.Fatalf("the server has started:\n%s", log)
			}
			for i, s := range tt.says {
				tt.says[i] = strings.ReplaceAll(s, "FOLDER", folder)
			}
			oneLine(t, log, tt.says...)
			if code, err := p.Wait(); code != 1 || err != nil {
				t.Errorf("exit code %d (%v)", code, err)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("a server that refused to start changed the files (-before +after):\n%s", diff)
			}
		})
	}
}

// A server without keys names a command, after which it starts.
func TestKeysForAStoreWithoutKeys(t *testing.T) {
	s := start(t, t.TempDir())
	s.create(s.key, "Rex")
	s.stop()
	if err := os.Remove(s.path("petstore.keys")); err != nil {
		t.Fatal(err)
	}
	_, _, stderr := run(t, s.dir, "-addr=127.0.0.1:0")
	named := regexp.MustCompile(`refserver (keys create) (-keys) '(.+)' (\w+)\n`).FindStringSubmatch(stderr)
	if named == nil {
		t.Fatalf("no command is named: %s", stderr)
	}
	code, key, stderr := run(t, t.TempDir(), append(strings.Fields(named[1]), named[2:]...)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	again := start(t, s.dir, "-must-exist")
	if r := again.do("GET", again.URL+"/pets", strings.TrimSpace(key), ""); r.status != 200 || !strings.Contains(r.body, "Rex") {
		t.Errorf("GET /pets: %d %s", r.status, r.body)
	}
}

// A first start that fails halfway can be repeated.
func TestFirstStartThatFails(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "petstore.keys.lock")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, dir, "-addr=127.0.0.1:0")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	oneLine(t, stderr, "-keys", blocked)
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	s := start(t, dir)
	s.create(s.key, "Rex")
}

// Of several servers that are started at once where no files exist, exactly one
// serves.
func TestFirstStartsAtOnce(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		var started []*process.Process
		for range 3 {
			p, err := process.Start(command(dir, "-addr=127.0.0.1:0"))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			started = append(started, p)
		}
		serving := slices.DeleteFunc(started, func(p *process.Process) bool {
			_, err := p.Serving()
			if err != nil { // the store is in use, or was found before its keys were made
				oneLine(t, p.Stderr.String(), "petstore.db")
			}
			return err != nil
		})
		if len(serving) != 1 {
			t.Fatalf("%d servers serve", len(serving))
		}
		key, err := serving[0].Key()
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := run(t, dir, "keys", "list")
		if strings.Count(list, "\n") != 2 { // a header and one key
			t.Errorf("the keys are\n%s", list)
		}
		serving[0].Kill()
		s := start(t, dir, "-must-exist")
		s.create(key, "Rex")
		s.stop()
	}
}
