//go:build linux

package faulttest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// The writer is a process that opens a store, has four callers change it, and
// says on standard output how each change went, a line each in one write:
//
//	opened
//	pet ID NAME, message ID NAME: acknowledged
//	full NAME, unavailable NAME: refused
//	failed REASON: the store has, at the end
//
// A name tells what was sent; see record.

const writerCallers = 4

// write is the writer. It returns its exit code.
func write(path string) int {
	s, err := storage.Open(path, nil)
	if err != nil {
		fmt.Println("refused", err)
		return 3
	}
	say := func(format string, args ...any) { _, _ = os.Stdout.WriteString(fmt.Sprintf(format+"\n", args...)) }
	say("opened")
	ops, err := strconv.Atoi(os.Getenv("FAULTTEST_OPS"))
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for i := range writerCallers {
		wg.Go(func() {
			for n := range ops {
				change(s, fmt.Sprintf("%d-%d", i, n), n, say)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		say("failed %v", err)
		return 1
	}
	return 0
}

// change makes the n-th change of a caller.
func change(s *storage.Store, name string, n int, say func(string, ...any)) {
	ctx := context.Background()
	var err error
	if n%3 == 2 {
		var m petstore.Message
		if m, err = s.SubmitMessage(ctx, record(name).Name, petstore.Once{}); err == nil {
			say("message %s %s", m.ID, name)
		}
	} else {
		var once petstore.Once
		if n%2 == 0 {
			once.Key = name
		}
		var p petstore.Pet
		if p, err = s.CreatePet(ctx, record(name), once); err == nil {
			say("pet %d %s", p.ID, name)
		}
	}
	switch petstore.CodeOf(err) {
	case "":
	case petstore.CodeFull:
		say("full %s", name)
		// Reads go on.
		if _, err := s.ListPets(ctx, petstore.ListQuery{}); err != nil {
			say("unreadable %v", err)
		}
	case petstore.CodeUnavailable:
		say("unavailable %s", name)
	default:
		say("error %s %v", name, err)
	}
}

// record is what the writer sends under a name. Some are longer than a page.
func record(name string) petstore.NewPet {
	p := petstore.NewPet{Name: name + " ", CategoryID: int64(len(name))}
	n := len(name) + int(name[len(name)-1])
	if n%5 == 0 {
		p.Name += strings.Repeat("long ", 100*n)
	}
	p.Status = append(petstore.Statuses(), "")[n%4]
	return p
}

// writer returns the command that makes so many changes a caller in the store
// at path. before, if any, is the command that runs it.
func writer(path string, changes int, before ...string) *exec.Cmd {
	args := append(before, os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "FAULTTEST_WRITE="+path, fmt.Sprint("FAULTTEST_OPS=", changes), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// told is what a writer said.
type told struct {
	opened      bool
	pets        map[int64]string  // acknowledged
	messages    map[string]string // acknowledged
	full        int
	unavailable int
	failed      string // why the store has; "": it has not
	other       []string
}

func hear(out string) told {
	h := told{pets: map[int64]string{}, messages: map[string]string{}}
	for sc := bufio.NewScanner(strings.NewReader(out)); sc.Scan(); {
		h.add(sc.Text())
	}
	return h
}

func (h *told) add(line string) {
	what, rest, _ := strings.Cut(line, " ")
	id, name, _ := strings.Cut(rest, " ")
	switch what {
	case "opened":
		h.opened = true
	case "pet":
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			h.other = append(h.other, line)
		}
		h.pets[n] = name
	case "message":
		h.messages[id] = name
	case "full":
		h.full++
	case "unavailable":
		h.unavailable++
	case "failed":
		h.failed = rest
	default:
		h.other = append(h.other, line)
	}
}

// hold makes sure that the store at path holds what h says that it
// acknowledged, and of the rest no more than the writer's callers had under
// way, each at most once; and that it takes changes and is sound after them.
func hold(t *testing.T, what, path string, h told) petstore.Stats {
	t.Helper()
	s, err := storage.Open(path, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return petstore.Stats{}
	}
	stats, err := s.Stats(t.Context())
	if err == nil {
		err = compare(t.Context(), s, h)
	}
	for range 2 { // one for each meta page
		if _, e := s.CreatePet(t.Context(), record("later"), petstore.Once{}); err == nil {
			err = e
		}
	}
	if e := s.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if err := storage.Check(path, func(err error) { t.Errorf("%s: %v", what, err) }); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return stats
}

// compare holds what is in a store against what a writer was told.
func compare(ctx context.Context, s *storage.Store, h told) error {
	found, extra := 0, 0
	count := func(acknowledged string, ok bool, name string) error {
		switch {
		case ok && acknowledged != name:
			return fmt.Errorf("%q is there, and was acknowledged as %q", name, acknowledged)
		case ok:
			found++
		default:
			extra++
		}
		return nil
	}
	once := map[string]bool{}
	for q := (petstore.ListQuery{Limit: 100}); ; {
		page, err := s.ListPets(ctx, q)
		if err != nil {
			return err
		}
		for _, p := range page.Pets {
			name, _, _ := strings.Cut(p.Name, " ")
			acknowledged, ok := h.pets[p.ID]
			if err := count(acknowledged, ok, name); err != nil {
				return err
			}
			if p.NewPet != record(name) || once[name] {
				return fmt.Errorf("the pet %d is %.50q, which was never sent, or is there twice", p.ID, p.Name)
			}
			once[name] = true
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	messages, err := s.QueuedMessages(ctx, petstore.MaxQueueLimit)
	if err != nil {
		return err
	}
	for _, m := range messages {
		name, _, _ := strings.Cut(m.Text, " ")
		acknowledged, ok := h.messages[m.ID]
		if err := count(acknowledged, ok, name); err != nil {
			return err
		}
	}
	if n := len(h.pets) + len(h.messages); found < n || extra > writerCallers {
		return fmt.Errorf("%d of %d acknowledged changes are there, and %d others; at most %d were under way", found, n, extra, writerCallers)
	}
	return nil
}
