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
// missing. One that refuses to start must make nothing, not even a folder.
func TestMissingFiles(t *testing.T) {
	made := start(t, t.TempDir())
	made.create("Rex")
	made.Stop()

	const store, keys = "petstore.db", "petstore.keys"
	tests := []struct {
		name  string
		there []string // files that exist
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
			if len(tt.there) > 0 {
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range tt.there {
				writeFile(t, filepath.Join(folder, name), readFile(t, made.Path(name)))
			}
			before := tree(t, dir)
			cmd := command(dir, append(tt.args, "-addr=127.0.0.1:0",
				"-db="+filepath.Join("its data", store), "-keys="+filepath.Join("its data", keys))...)
			if tt.line != "" {
				p, err := process.Start(cmd)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Kill()
				form := `msg=serving url=\S+ ` + tt.line + `schema=\d+ version=.*go1`
				_, err = p.Serving()
				if log := p.Log(); err != nil || !regexp.MustCompile(form).MatchString(log) || !strings.Contains(log, filepath.Join(folder, store)) {
					t.Errorf("the log is not of the form %q, with the file in %s:\n%s", form, folder, log)
				}
				return
			}
			code, _, stderr := process.Run(t, cmd)
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			for _, s := range tt.says {
				oneLine(t, stderr, strings.ReplaceAll(s, "FOLDER", folder))
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("a server that refused to start changed the files (-before +after):\n%s", diff)
			}
		})
	}
}

// A server without a key file names a command that creates one. After that
// command it starts.
func TestKeysForAStoreWithoutKeys(t *testing.T) {
	s := start(t, t.TempDir())
	s.create("Rex")
	s.Stop()
	if err := os.Remove(s.Path("petstore.keys")); err != nil {
		t.Fatal(err)
	}
	_, _, stderr := run(t, s.Dir, "-addr=127.0.0.1:0")
	named := regexp.MustCompile(`refserver (keys create) (-keys) '(.+)' (\w+)\n`).FindStringSubmatch(stderr)
	if named == nil {
		t.Fatalf("no command is named: %s", stderr)
	}
	code, key, stderr := process.Run(t, command(t.TempDir(), append(strings.Fields(named[1]), named[2:]...)...))
	if code != 0 {
		t.Fatal(stderr)
	}
	again := start(t, s.Dir, "-must-exist")
	again.Key = strings.TrimSpace(key)
	if r := again.Must(200, "GET", "/pets", ""); !strings.Contains(r.Body, "Rex") {
		t.Errorf("GET /pets: %s", r.Body)
	}
}

// A first start that fails halfway can be repeated.
func TestFirstStartThatFails(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "petstore.keys.lock")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	fails(t, dir, "-addr=127.0.0.1:0", 1, "-keys", blocked)
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	start(t, dir).create("Rex")
}

// If several servers start at the same time in an empty folder, exactly one
// serves.
func TestFirstStartsAtOnce(t *testing.T) {
	for range 5 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
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
					oneLine(t, p.Log(), "petstore.db")
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
			if list := succeeds(t, dir, "keys list"); strings.Count(list, "\n") != 2 { // a header and one key
				t.Errorf("the keys are\n%s", list)
			}
			serving[0].Kill()
			s := start(t, dir, "-must-exist")
			s.Key = key
			s.create("Rex")
		})
	}
}
