package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "pets.db")
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
	run(t, dir, "refserver check pets.db\nstdout ^pets\\.db is sound\\n$")
	file := process.ReadFile(t, path)
	for i := range 10 { // each in another block, and some also in the table of their status
		file = bytes.Replace(file, fmt.Appendf(nil, `"name":"pet %d"`, i*100), fmt.Appendf(nil, `"name":"bad %d"`, i*100), 1+i%2)
	}
	process.WriteFile(t, path, file)
	damaged := run(t, dir, `
		1 refserver check pets.db
		stdout fails its checksum
		stderr pets\.db is damaged.*-skip-damaged
		sh refserver export pets.db >part || test $? = 1
		stderr -skip-damaged
		sh refserver export -skip-damaged pets.db || test $? = 3
		stderr pets: (?<SAVED>\d+) saved, (?<LOST>\d+) lost; messages: 0 saved, 0 lost\n$
		stdout pet`)
	saved, _ := strconv.Atoi(damaged.values["SAVED"])
	lost, _ := strconv.Atoi(damaged.values["LOST"])
	if n := strings.Count(damaged.stdout, `"name"`); saved == 0 || saved != n || lost != 2000-n {
		t.Errorf("%d saved, %d lost; %d lines", saved, lost, n)
	}
}
