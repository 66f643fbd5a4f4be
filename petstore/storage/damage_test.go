package storage_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

var damages = flag.Int("damages", 60, "how many damaged copies of a file to open")

const (
	damageEnv = "PETSTORE_DAMAGED" // in a child: the directory of the files
	wrong     = "WRONG: "          // before an outcome that must not be
	allMade   = "all changes were made"
	forgot    = "an outcome was forgotten"
	ended     = "the process ended"
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
	files := []*stored{small(t), deep(t)}
	for i, d := range files {
		d.save(t, filepath.Join(dir, fmt.Sprint(i)))
	}
	counts := map[string]int{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	todo := make(chan [3]int) // the number of the copy, that of the file, and the bit
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			c := &child{dir: dir}
			defer c.end()
			for d := range todo {
				b := slices.Clone(used(files[d[1]].file))
				at := d[2] / 8
				where := fmt.Sprintf("copy %d of seed %d, of file %d: page %d with the header %x, byte %d, bit %d",
					d[0], *seed, d[1], at/pageSize, pageOf(b, at/pageSize)[:16], at%pageSize, d[2]%8)
				b[at] ^= 1 << (d[2] % 8)
				outcomes := c.ask(t, d)
				mu.Lock()
				for o := range strings.SplitSeq(outcomes, "\t") {
					kind, _, _ := strings.Cut(strings.TrimPrefix(o, wrong), ":")
					counts[kind]++
					if strings.HasPrefix(o, wrong) {
						t.Errorf("%s: %.2000s", where, o)
					}
				}
				mu.Unlock()
			}
		})
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	for n := range *damages {
		todo <- [3]int{n, n % 2, bitOf(used(files[n%2].file), r)}
	}
	close(todo)
	workers.Wait()
	t.Logf("%d damaged copies: %v", *damages, counts)
	// See "What is not promised" in docs/reliability.md.
	if few := 2 + *damages/200; counts[forgot] > few || counts[ended] > few {
		t.Errorf("want at most %d of %q and of %q", few, forgot, ended)
	}
}

// child is a process that handles damaged copies; cmd is nil if none runs.
type child struct {
	dir    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// ask returns the outcomes of a copy.
func (c *child) ask(t *testing.T, d [3]int) string {
	if c.cmd == nil {
		c.cmd = exec.Command(os.Args[0], "-test.run=^TestDamage$")
		c.cmd.Env = append(os.Environ(), damageEnv+"="+c.dir)
		c.cmd.Stderr = new(strings.Builder)
		stdout, err1 := c.cmd.StdoutPipe()
		var err2 error
		c.stdin, err2 = c.cmd.StdinPipe()
		c.stdout = bufio.NewReader(stdout)
		if err := errors.Join(err1, err2, c.cmd.Start()); err != nil {
			t.Error(err)
		}
	}
	fmt.Fprintln(c.stdin, d[0], d[1], d[2])
	hung := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	line, err := c.stdout.ReadString('\n')
	died := hung.Stop()
	if err == nil {
		return strings.TrimSuffix(line, "\n")
	}
	why := c.cmd.Stderr
	c.end()
	if !died {
		return ended + ": it hung"
	}
	return ended + ": " + strings.Join(strings.Fields(fmt.Sprint(why)), " ")
}

func (c *child) end() {
	if c.cmd != nil {
		c.stdin.Close()
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

// save writes d for the children.
func (d *stored) save(t *testing.T, path string) {
	var b bytes.Buffer
	e := gob.NewEncoder(&b)
	if err := errors.Join(e.Encode(d.file), e.Encode(d.pets), e.Encode(d.keyed), e.Encode(d.queue), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// damageChild makes the copies that stdin asks for, and writes a line for each.
func damageChild(t *testing.T, dir string) {
	debug.SetMaxStack(64 << 20)
	go func() { // a cursor that goes round takes all memory
		var m runtime.MemStats
		for live := false; ; live = m.HeapAlloc > 2<<30 {
			if runtime.ReadMemStats(&m); live && m.HeapAlloc > 2<<30 {
				fmt.Fprintln(os.Stderr, "too much memory")
				os.Exit(3)
			}
			if m.HeapAlloc > 2<<30 {
				runtime.GC()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	var files [2]stored
	lines := map[string]bool{} // of an export
	for i := range files {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
		d, g := &files[i], gob.NewDecoder(bytes.NewReader(b))
		if err := errors.Join(err, g.Decode(&d.file), g.Decode(&d.pets), g.Decode(&d.keyed), g.Decode(&d.queue)); err != nil {
			t.Fatal(err)
		}
		for _, p := range d.pets {
			b, _ := json.Marshal(p)
			lines[fmt.Sprintln(i, string(b))] = true
		}
		for _, m := range d.queue {
			b, _ := json.Marshal(m)
			lines[fmt.Sprintln(i, string(b))] = true
		}
	}
	path := filepath.Join(t.TempDir(), "pets.db")
	for n, file, bit := 0, 0, 0; ; {
		if _, err := fmt.Fscan(os.Stdin, &n, &file, &bit); err != nil {
			return
		}
		d := files[file]
		d.pets, d.keyed, d.queue = slices.Clone(d.pets), maps.Clone(d.keyed), slices.Clone(d.queue)
		b := slices.Clone(d.file)
		b[bit/8] ^= 1 << (bit % 8)
		writeFile(t, path, b)
		j := &judge{d: &d, lines: lines, file: file, path: path}
		j.judge(n%4 >= 2)
		outcomes := slices.Compact(j.outcomes)
		for i, o := range outcomes {
			outcomes[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(fmt.Sprintf("%.2000s", o))
		}
		fmt.Println(strings.Join(outcomes, "\t"))
	}
}

// judge handles one copy.
type judge struct {
	d        *stored
	lines    map[string]bool // of the exports, after the number of the file
	file     int
	path     string
	outcomes []string
	unsure   bool // there may be more in the file than was acknowledged
}

func (j *judge) note(format string, args ...any) {
	j.outcomes = append(j.outcomes, fmt.Sprintf(format, args...))
}

func expected(err error) bool {
	return err == nil || errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrForeign)
}

func (j *judge) judge(writeFirst bool) {
	found := false
	if err := storage.Check(j.path, func(err error) { found = true }); !expected(err) {
		j.note(wrong+"check: %v", err)
	}
	var out strings.Builder
	if _, err := storage.Export(j.path, &out, func(error) {}); !expected(err) {
		j.note(wrong+"export: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		if (!j.lines[fmt.Sprint(j.file, " ", line)] || seen[line]) && !strings.HasPrefix(line, `{"end":`) {
			j.note(wrong+"exported line: %s", line)
		}
		seen[line] = true
	}
	s := j.open("on opening")
	if s == nil {
		return
	}
	if !writeFirst {
		j.read(s, "")
	}
	refused := j.write(s)
	if !j.unsure {
		j.read(s, "")
	}
	j.close(s)
	j.unsure = j.unsure || refused
	if s = j.open("on opening again"); s == nil {
		return
	}
	if !j.unsure {
		j.read(s, " after opening again")
	}
	for i := 0; i < len(j.d.pets) && j.unsure; i++ {
		if pet, err := s.GetPet(context.Background(), j.d.pets[i].ID); pet != j.d.pets[i] && !errors.Is(err, storage.ErrDamaged) {
			j.note(wrong+"wrong result after opening again: %v, %v", pet, err)
		}
	}
	j.close(s)
	if !found && (len(j.outcomes) > 1 || j.outcomes[0] != allMade) {
		j.note("not found by the check")
	}
}

func (j *judge) open(when string) *storage.Store {
	s, err := storage.Open(j.path, nil)
	if err == nil {
		return s
	}
	kind := "refused "
	if errors.Is(err, storage.ErrUndecided) {
		kind = "undecided "
	}
	if !expected(err) {
		kind = wrong + kind
	}
	j.note(kind+when+": %v", err)
	return nil
}

func (j *judge) close(s *storage.Store) {
	if err := s.Close(); err != nil && s.Err() == nil {
		j.note(wrong+"closing: %v", err)
	}
}

func (j *judge) read(s *storage.Store, when string) {
	pets, others, err := j.d.read(context.Background(), s)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "repeated"): // all else is right
		j.note(forgot)
		j.unsure = true
	case err != nil:
		j.note(wrong+"wrong result%s: %v", when, err)
	}
	if pets+others > 0 && s.Err() == nil {
		j.note("an error on reading%s", when)
	}
}

// write makes changes until one is refused, and adds those that were acknowledged to
// what is stored.
func (j *judge) write(s *storage.Store) (refused bool) {
	d, ctx := j.d, context.Background()
	for round := range 12 {
		var mu sync.Mutex
		var calls sync.WaitGroup
		var failed error
		call := func(change func() error, made func()) {
			calls.Go(func() {
				err := change()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made()
				}
				failed = cmp.Or(failed, err)
			})
		}
		for i := range 8 {
			n, once := 100_000+8*round+i, petstore.Once{}
			if i < 6 {
				once = keyOf(n)
			}
			var pet petstore.Pet
			call(func() (err error) { pet, err = s.CreatePet(ctx, petOf(n), once); return err }, func() {
				d.pets = append(d.pets, pet)
				if i < 6 {
					d.keyed[n] = pet
				}
			})
		}
		old := d.queue[round*37%len(d.queue)].ID
		var m petstore.Message
		call(func() error { return s.RemoveMessages(ctx, old) }, func() {
			d.queue = slices.DeleteFunc(d.queue, func(m petstore.Message) bool { return m.ID == old })
		})
		call(func() (err error) {
			m, err = s.SubmitMessage(ctx, strings.Repeat("a message ", round*round), petstore.Once{})
			return err
		}, func() { d.queue = append(d.queue, m) })
		calls.Wait()
		slices.SortFunc(d.pets, func(a, b petstore.Pet) int { return cmp.Compare(a.ID, b.ID) })
		switch {
		case failed == nil:
		case s.Err() != nil:
			j.unsure = true
			j.note("failed: %v", s.Err())
			return true
		case errors.Is(failed, storage.ErrDamaged) && petstore.CodeOf(failed) == petstore.CodeInternal:
			j.note("a change was refused")
			return true
		default:
			j.note(wrong+"a change: %v", failed)
			return true
		}
	}
	j.note(allMade)
	return false
}

// bitOf picks a bit of a file: half of them in headers and elements.
func bitOf(b []byte, r *rand.Rand) int {
	pick := func(ids []int) int { return ids[r.IntN(len(ids))] }
	branches, leaves, lists, metas := pagesOf(b, branchPage), pagesOf(b, leafPage), pagesOf(b, freelistPage), []int{0, 1}
	root := int(binary.NativeEndian.Uint64(pageOf(b, newerMeta(b))[16+16:]))
	page, at := 0, 0
	switch r.IntN(4) {
	case 0:
		free := pagesOf(b, 0)
		for page = r.IntN(len(b) / pageSize); slices.Contains(free, page); {
			page = r.IntN(len(b) / pageSize)
		}
		at = r.IntN(len(bytes.TrimRight(pageOf(b, page), "\x00")))
	case 1:
		page = pick([][]int{metas, lists, branches, {root}}[r.IntN(4)])
		at = r.IntN(len(bytes.TrimRight(pageOf(b, page), "\x00")))
	default:
		page = pick([][]int{branches, leaves, leaves, append(metas, lists...)}[r.IntN(4)])
		if n := int(binary.NativeEndian.Uint16(pageOf(b, page)[10:])); r.IntN(3) == 0 {
			at = r.IntN(16)
		} else if at = 16 + r.IntN(max(n, 4)*16); slices.Contains(lists, page) {
			at = 16 + r.IntN(n*8)
		}
	}
	return (page*pageSize+at)*8 + r.IntN(8)
}
