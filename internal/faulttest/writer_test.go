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

	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// The writer is a process that opens a store and changes it from four callers
// at the same time. It writes the outcome of each change to standard output, as
// one line in one write:
//
//	opened
//	pet ID NAME, message ID NAME: acknowledged
//	full NAME, unavailable NAME: refused
//	failed REASON: the store failed, at the end
//
// A name stands for what was sent; see record.

const writerCallers = 4

// write is the writer. It returns the exit code.
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

// writer returns the command that makes that number of changes from each caller
// in the store at path. prefix is the command that runs it, if any.
func writer(path string, changes int, prefix ...string) *exec.Cmd {
	cmd := process.Command("", append(prefix, os.Args[0])...)
	cmd.Env = append(cmd.Env, "FAULTTEST_WRITE="+path, fmt.Sprint("FAULTTEST_OPS=", changes))
	return cmd
}

// outcome is what a writer wrote.
type outcome struct {
	opened bool
	ledger
	full        int
	unavailable int
	failed      string // why the store failed; "": it did not
	other       []string
}

func parseOutcome(out string) outcome {
	o := outcome{ledger: newLedger(record)}
	for sc := bufio.NewScanner(strings.NewReader(out)); sc.Scan(); {
		o.add(sc.Text())
	}
	return o
}

func (o *outcome) add(line string) {
	what, rest, _ := strings.Cut(line, " ")
	id, name, _ := strings.Cut(rest, " ")
	switch what {
	case "opened":
		o.opened = true
	case "pet":
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			o.other = append(o.other, line)
		}
		o.pets[n] = name
	case "message":
		o.messages[id] = name
	case "full":
		o.full++
	case "unavailable":
		o.unavailable++
	case "failed":
		o.failed = rest
	default:
		o.other = append(o.other, line)
	}
}

// checkWriter checks the store of a writer, which can also have one change of
// each caller that was not acknowledged. It returns how many pets and messages
// the store had.
func checkWriter(t *testing.T, what, path string, acked ledger) int64 {
	t.Helper()
	extra, pets, messages := acked.check(t, what, path)
	if len(extra) > writerCallers {
		t.Errorf("%s: %q are there and were not acknowledged; there are %d callers", what, extra, writerCallers)
	}
	return pets + messages
}
