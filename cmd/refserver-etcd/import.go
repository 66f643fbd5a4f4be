package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/etcdstore"
)

func importCommand() flags.Command {
	var c cluster
	var from string
	return flags.Command{
		Name:  "import",
		About: "copy a file of refserver into the cluster and keep the IDs; run it again to continue after an interruption",
		Flags: func(fs *flag.FlagSet) {
			c.flags(fs)
			fs.StringVar(&from, "from", "", "`file` of refserver, which must not be in use by a server; it is not changed")
		},
		Run: func(call *flags.Call) error {
			if from == "" {
				return flags.Usagef("import needs -from")
			}
			s, err := c.open(call.Context, slog.New(slog.NewTextHandler(call.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
			if err != nil {
				return err
			}
			return errors.Join(copyFile(call.Context, from, s, call.Stdout), s.Close())
		},
	}
}

// copyFile makes sure that the pets and messages in the cluster are the first of
// the file, adds the rest, and then compares everything.
func copyFile(ctx context.Context, from string, to *etcdstore.Store, out io.Writer) error {
	pets := records[petstore.Pet]{
		name:   "pets",
		export: func(w io.Writer) (storage.Exported, error) { return storage.Export(from, w, nil) },
		id:     func(p petstore.Pet) int64 { return p.ID },
		equal:  func(a, b petstore.Pet) bool { return a == b },
		list: func(after petstore.Pet) ([]petstore.Pet, error) {
			q := petstore.ListQuery{Limit: petstore.MaxLimit}
			if after.ID > 0 {
				q.After = petstore.CursorAfter(after.ID)
			}
			page, err := to.ListPets(ctx, q)
			return page.Pets, err
		},
		add: func(part []petstore.Pet) error {
			const often = 100_000
			if last := part[len(part)-1].ID; last/often > (part[0].ID-1)/often {
				fmt.Fprintf(out, "%d pets\n", last)
			}
			return to.ImportPets(ctx, part)
		},
	}
	messages := records[petstore.Message]{
		name: "messages",
		export: func(w io.Writer) (storage.Exported, error) {
			return storage.Export(from, w, &storage.ExportOptions{Messages: true})
		},
		id: func(m petstore.Message) int64 {
			n, _ := petstore.ParseMessageID(m.ID)
			return n
		},
		equal: func(a, b petstore.Message) bool {
			return a.ID == b.ID && a.Text == b.Text && a.Status == b.Status && a.CreatedAt.Equal(b.CreatedAt)
		},
		list: func(after petstore.Message) ([]petstore.Message, error) {
			return to.MessagesAfter(ctx, after.ID, petstore.MaxQueueLimit)
		},
		add: func(part []petstore.Message) error { return to.ImportMessages(ctx, part, 0) },
	}
	before, err := to.Stats(ctx)
	if err != nil {
		return err
	}
	last, err := to.LastMessage(ctx)
	if err != nil {
		return err
	}
	total, err := pets.compare(before.Pets)
	if err != nil {
		return err
	}
	queued, err := messages.compare(last)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the cluster already holds %d of %d pets\n", before.Pets, total.Written)
	if err := pets.addAfter(before.Pets); err != nil {
		return err
	}
	if err := messages.addAfter(last); err != nil {
		return err
	}
	if err := to.ImportMessages(ctx, nil, queued.Last); err != nil {
		return err
	}
	_, err = pets.compare(math.MaxInt64)
	if err == nil {
		_, err = messages.compare(math.MaxInt64)
	}
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	_, err = fmt.Fprintf(out, "%d pets and %d queued messages copied and compared\n"+
		"Idempotency keys are not copied: a client that repeats an earlier creation now creates a second pet\n", total.Written, queued.Written)
	return err
}

// records is the pets or the queued messages of a file and a cluster.
type records[T any] struct {
	name   string
	export func(io.Writer) (storage.Exported, error) // of the file, in order of IDs, as JSON
	id     func(T) int64
	equal  func(a, b T) bool
	list   func(after T) ([]T, error) // of the cluster; the zero T: the first
	add    func([]T) error            // to the cluster
}

// each calls take with each record of the file.
func (r records[T]) each(take func(T) error) (storage.Exported, error) {
	in, out := io.Pipe()
	var done storage.Exported
	go func() {
		var err error
		done, err = r.export(out)
		_ = out.CloseWithError(err) // nil: the end of the file
	}()
	for d := json.NewDecoder(in); ; {
		var v T
		err := d.Decode(&v)
		if err == io.EOF {
			return done, nil
		}
		if err == nil {
			err = take(v)
		}
		if err != nil {
			_ = in.CloseWithError(err)
			return storage.Exported{}, err
		}
	}
}

// compare compares the records of the file up to an ID with all in the cluster.
// It returns what the file has.
func (r records[T]) compare(last int64) (storage.Exported, error) {
	differs := func(v T) error {
		return fmt.Errorf("the cluster holds other %s than the file: see the ID %d", r.name, r.id(v))
	}
	var at T
	var page []T
	next := func() (err error) {
		if len(page) == 0 {
			page, err = r.list(at)
		}
		return err
	}
	done, err := r.each(func(v T) error {
		if r.id(v) > last {
			return nil
		}
		if err := next(); err != nil {
			return err
		}
		if len(page) == 0 || !r.equal(page[0], v) {
			return differs(v)
		}
		at, page = v, page[1:]
		return nil
	})
	if err == nil {
		err = next()
	}
	if err == nil && len(page) > 0 {
		err = differs(page[0])
	}
	return done, err
}

// addAfter adds the records of the file that follow an ID.
func (r records[T]) addAfter(last int64) error {
	const most = 200 // at once; a record has up to 1 MiB
	var part []T
	_, err := r.each(func(v T) error {
		if r.id(v) <= last {
			return nil
		}
		if part = append(part, v); len(part) < most {
			return nil
		}
		err := r.add(part)
		part = part[:0]
		return err
	})
	if err == nil && len(part) > 0 {
		err = r.add(part)
	}
	return err
}
