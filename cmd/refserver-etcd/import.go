package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

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
// the file, adds the rest, and then compares everything. It adds messages first:
// the cluster refuses those whose IDs it has issued before.
func copyFile(ctx context.Context, from string, to *etcdstore.Store, out io.Writer) error {
	pets := records[petstore.Pet]{
		name:  "pets",
		from:  from,
		of:    func(r storage.Record) *petstore.Pet { return r.Pet },
		id:    func(p petstore.Pet) int64 { return p.ID },
		equal: func(a, b petstore.Pet) bool { return a == b },
		list: func(after int64) ([]petstore.Pet, error) {
			q := petstore.ListQuery{Limit: petstore.MaxLimit}
			if after > 0 {
				q.After = petstore.CursorAfter(after)
			}
			page, err := to.ListPets(ctx, q)
			return page.Pets, err
		},
		add: func(part []petstore.Pet) error {
			const often = 100_000
			if last := part[len(part)-1].ID; last/often > (part[0].ID-1)/often {
				fmt.Fprintf(out, "pets: %d\n", last)
			}
			return to.ImportPets(ctx, part)
		},
	}
	messages := records[petstore.Message]{
		name: "messages",
		from: from,
		of:   func(r storage.Record) *petstore.Message { return r.Message },
		id: func(m petstore.Message) int64 {
			n, _ := petstore.ParseMessageID(m.ID)
			return n
		},
		equal: func(a, b petstore.Message) bool {
			return a.ID == b.ID && a.Text == b.Text && a.Status == b.Status && a.CreatedAt.Equal(b.CreatedAt)
		},
		list: func(after int64) ([]petstore.Message, error) {
			return to.MessagesAfter(ctx, after, petstore.MaxQueueLimit)
		},
		add: func(part []petstore.Message) error { return to.ImportMessages(ctx, part, 0) },
	}
	before, err := to.Stats(ctx)
	if err != nil {
		return err
	}
	total, err := pets.compare(func([]petstore.Pet) error { return nil })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "pets that the cluster already holds: %d of %d\n", before.Pets, total.Pets)
	if _, err := messages.compare(messages.add); err != nil {
		return err
	}
	if err := to.ImportMessages(ctx, nil, total.LastMessage); err != nil {
		return err
	}
	if _, err := pets.compare(pets.add); err != nil {
		return err
	}
	_, err = pets.compare(pets.differ)
	if err == nil {
		_, err = messages.compare(messages.differ)
	}
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	_, err = fmt.Fprintf(out, "copied and compared; pets: %d; queued messages: %d\n"+
		"Idempotency keys are not copied: a client that repeats an earlier creation now creates a second pet\n", total.Pets, total.Messages)
	return err
}

// records is the pets or the queued messages of a file and a cluster.
type records[T any] struct {
	name  string
	from  string                  // the file
	of    func(storage.Record) *T // nil: the record is of the other kind
	id    func(T) int64
	equal func(a, b T) bool
	list  func(after int64) ([]T, error) // of the cluster
	add   func([]T) error                // to the cluster
}

// differ returns the error that the cluster differs from the file at the first of
// some records.
func (r records[T]) differ(part []T) error {
	return fmt.Errorf("the cluster holds other %s than the file: see the ID %d", r.name, r.id(part[0]))
}

// compare compares the file with the cluster, and calls rest with those records of
// the file that follow the last one of the cluster. It returns what the file has.
func (r records[T]) compare(rest func([]T) error) (total storage.End, err error) {
	const most = 200 // at once; a record has up to 1 MiB
	in, out := io.Pipe()
	defer in.Close()
	go func() {
		_, err := storage.Export(r.from, out, nil)
		_ = out.CloseWithError(err) // nil: the end of the file
	}()
	var part, page []T           // of the file, for rest; of the cluster
	at, ended := int64(0), false // the last ID in the cluster that was compared; there are no others
	nextPage := func() (err error) {
		if len(page) == 0 && !ended {
			page, err = r.list(at)
			ended = len(page) == 0
		}
		return err
	}
	err = storage.ReadExport(in, func(record storage.Record) error {
		if record.End != nil {
			total = *record.End
		}
		v := r.of(record)
		if v == nil {
			return nil
		}
		err := nextPage()
		switch {
		case err != nil:
		case len(page) == 0:
			if part = append(part, *v); len(part) == most {
				err = rest(part)
				part = part[:0]
			}
		case !r.equal(page[0], *v):
			err = r.differ([]T{*v})
		default:
			at, page = r.id(*v), page[1:]
		}
		return err
	})
	if err == nil {
		err = nextPage()
	}
	switch {
	case err != nil:
		return total, err
	case len(page) > 0:
		return total, r.differ(page)
	case len(part) > 0:
		return total, rest(part)
	}
	return total, nil
}
