package storage_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/internal/test/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

var damages = flag.Int("damages", 16, "how many damaged copies of a file to open")

const (
	damageEnv = "PETSTORE_DAMAGED" // in a child: the directory of the files
	firstEnv  = "PETSTORE_FIRST"   // in a child: the number of its first copy

	// What a child writes about each copy begins with one of these.
	copyNumber = "copy "
	wrong      = "WRONG: "
	forgot     = "an outcome was forgotten"
)

// TestDamage flips one bit in each of many copies of a file, reads it, writes to it, and
// opens and reads it again. It does so in child processes, since pages that lead to
// themselves end a process.
func TestDamage(t *testing.T) {
	if dir := os.Getenv(damageEnv); dir != "" {
		damageChild(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	process.WriteFile(t, filepath.Join(dir, "0"), small(t).file)
	process.WriteFile(t, filepath.Join(dir, "1"), deep(t).file)
	forgotten, ended := 0, 0
	for n, died := 0, true; died && n < *damages; n++ { // from the copy after the one that ended a child
		var out string
		out, died = runChild(dir, n)
		for line := range strings.Lines(out) {
			if number, ok := strings.CutPrefix(line, copyNumber); ok {
				n, _ = strconv.Atoi(strings.TrimSpace(number))
			}
			if strings.HasPrefix(line, wrong) {
				t.Errorf("copy %d of seed %d: %s", n, *seed, line)
			}
			if strings.HasPrefix(line, forgot) {
				forgotten++
			}
		}
		if died {
			ended++
		}
	}
	t.Logf("%d damaged copies: %d forgot an outcome, %d ended a process", *damages, forgotten, ended)
	// See "What is not promised" in docs/reliability.md.
	if few := 2 + *damages/200; forgotten > few || ended > few {
		t.Errorf("want at most %d of each", few)
	}
}

// runChild returns what a child writes that begins with a copy.
func runChild(dir string, first int) (out string, died bool) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestDamage$", fmt.Sprint("-damages=", *damages), fmt.Sprint("-seed=", *seed))
	cmd.Env = append(os.Environ(), damageEnv+"="+dir, fmt.Sprint(firstEnv, "=", first))
	b, err := cmd.Output()
	return string(b), err != nil
}

func damageChild(t *testing.T, dir string) {
	debug.SetMaxStack(64 << 20)
	copied := time.Now()
	var mu sync.Mutex
	go func() {
		for { // a cursor that goes round takes all memory
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			mu.Lock()
			if m.HeapAlloc > 2<<30 || time.Since(copied) > time.Minute {
				os.Exit(3)
			}
			mu.Unlock()
			time.Sleep(20 * time.Millisecond)
		}
	}()
	var files [2]*stored
	var lines [2]map[string]bool // of an export
	for i, keys := range [][]int{smallKeys, deepKeys} {
		path := filepath.Join(dir, fmt.Sprint(i))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := dbPath(t)
		process.WriteFile(t, copied, b)
		files[i] = storedIn(t, open(t, copied), keys)
		files[i].file = b
		lines[i] = map[string]bool{}
		export, _ := salvaged(t, path)
		for line := range strings.Lines(export) {
			lines[i][line] = true
		}
	}
	path := dbPath(t)
	n, err := strconv.Atoi(os.Getenv(firstEnv))
	if err != nil {
		t.Fatal(err)
	}
	for ; n < *damages; n++ {
		d := *files[n%2]
		mu.Lock()
		copied = time.Now()
		mu.Unlock()
		fmt.Println(copyNumber, n)
		d.pets, d.keyed, d.queue = slices.Clone(d.pets), maps.Clone(d.keyed), slices.Clone(d.queue)
		b := bytes.Clone(d.file)
		bit := bitOf(b, rand.New(rand.NewPCG(*seed, uint64(n))))
		b[bit/8] ^= 1 << (bit % 8)
		process.WriteFile(t, path, b)
		j := &judge{stored: &d, ctx: t.Context(), path: path, lines: lines[n%2]}
		j.judge(n%4 >= 2)
	}
}

// judge handles one copy.
type judge struct {
	*stored
	ctx    context.Context
	path   string
	lines  map[string]bool // of an export of the whole file
	unsure bool            // there may be more in the file than was acknowledged
}

// wrong writes what must not be.
func (j *judge) wrong(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " ")
	fmt.Printf("%s%.2000s\n", wrong, text)
}

func expected(err error) bool {
	return err == nil || errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrNotPetstore)
}

func (j *judge) judge(writeFirst bool) {
	if err := storage.Check(j.path, nil); !expected(err) {
		j.wrong("check: %v", err)
	}
	var out strings.Builder
	if _, err := storage.Salvage(j.path, &out, func(error) {}); !expected(err) {
		j.wrong("salvage: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		if (!j.lines[line] || seen[line]) && !strings.HasPrefix(line, `{"end":`) {
			j.wrong("saved line: %s", line)
		}
		seen[line] = true
	}
	s := j.open("opening")
	if s == nil {
		return
	}
	if !writeFirst {
		j.readAll(s, "reading")
	}
	refused := j.write(s)
	if !j.unsure {
		j.readAll(s, "reading")
	}
	j.close(s)
	j.unsure = j.unsure || refused
	if s = j.open("opening again"); s == nil {
		return
	}
	if !j.unsure {
		j.readAll(s, "reading after opening again")
	}
	for i := 0; i < len(j.pets) && j.unsure; i++ {
		if pet, err := s.GetPet(j.ctx, j.pets[i].ID); pet != j.pets[i] && !errors.Is(err, storage.ErrDamaged) {
			j.wrong("wrong result after opening again: %v, %v", pet, err)
		}
	}
	j.close(s)
}

// open opens the copy. It returns nil if that is refused.
func (j *judge) open(what string) *storage.Store {
	s, err := storage.Open(j.path, nil)
	if !expected(err) {
		j.wrong("%s: %v", what, err)
	}
	return s
}

func (j *judge) close(s *storage.Store) {
	if err := s.Close(); err != nil && s.Err() == nil {
		j.wrong("closing: %v", err)
	}
}

func (j *judge) readAll(s *storage.Store, what string) {
	_, _, err := j.read(j.ctx, s)
	j.unsure = j.unsure || j.uncertain
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "repeated"): // all else is right
		fmt.Println(forgot)
		j.unsure = true
	case err != nil:
		j.wrong("wrong result of "+what+": %v", err)
	}
}

// write makes changes until one is refused, and adds those that were acknowledged to
// what is stored.
func (j *judge) write(s *storage.Store) (refused bool) {
	for n := range 80 {
		err := j.change(s, n)
		if err == nil {
			continue
		}
		j.unsure = j.unsure || s.Err() != nil
		full := strconv.IntSize == 32 && petstore.CodeOf(err) == petstore.CodeInsufficientStorage // see docs/reliability.md
		if s.Err() == nil && !full && (!errors.Is(err, storage.ErrDamaged) || petstore.CodeOf(err) != petstore.CodeInternal) {
			j.wrong("a change: %v", err)
		}
		return true
	}
	return false
}

// change makes the n-th change.
func (j *judge) change(s *storage.Store, n int) error {
	switch n % 8 {
	case 0:
		i := n * 37 % len(j.queue)
		err := s.RemoveMessages(j.ctx, j.queue[i].ID)
		if err == nil {
			j.queue = slices.Delete(j.queue, i, i+1)
		}
		return err
	case 1:
		m, err := s.SubmitMessage(j.ctx, strings.Repeat("a message ", n*n/8), petstore.IdempotencyKey{})
		if err == nil {
			j.queue = append(j.queue, m)
		}
		return err
	case 2:
		pet, err := s.CreatePet(j.ctx, petOf(n), petstore.IdempotencyKey{})
		if err == nil {
			j.pets = append(j.pets, pet)
		}
		return err
	}
	n += 100_000
	pet, err := s.CreatePet(j.ctx, petOf(n), keyOf(n))
	if err == nil {
		j.pets, j.keyed[n] = append(j.pets, pet), pet
	}
	return err
}
