package refserver

import (
	"context"
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
			s, err := c.openStore(call.Context, slog.New(slog.NewTextHandler(call.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
			if err != nil {
				return err
			}
			i := &importer{ctx: call.Context, from: from, to: s, out: call.Stdout}
			return errors.Join(i.run(), s.Close())
		},
	}
}

// importer copies a file into a cluster.
type importer struct {
	ctx  context.Context
	from string
	to   *etcdstore.Store
	out  io.Writer
}

// Errors of an import into a cluster that holds something else. The import then
// adds nothing.
var (
	errDiffer         = errors.New("the cluster holds other pets than the file")
	errDifferMessages = errors.New("the cluster holds other messages than the file")
)

// run makes sure that the pets and messages in the cluster are the first of the
// file, adds the rest, and then compares everything.
func (i *importer) run() error {
	before, err := i.to.Stats(i.ctx)
	if err != nil {
		return err
	}
	total, err := i.compare(before.Pets)
	switch {
	case err != nil:
		return err
	case total.Written < before.Pets:
		return fmt.Errorf("%w: %d, and the file has %d", errDiffer, before.Pets, total.Written)
	}
	last, err := i.to.LastMessage(i.ctx)
	if err == nil {
		err = i.compareMessages(last)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(i.out, "the cluster already holds %d of %d pets\n", before.Pets, total.Written)
	if err := i.add(before.Pets); err != nil {
		return err
	}
	messages, err := i.addMessages()
	if err != nil {
		return err
	}
	if _, err := i.compare(total.Written); err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	after, err := i.to.Stats(i.ctx)
	if err != nil {
		return err
	}
	if after.Pets != total.Written {
		return fmt.Errorf("verifying: %w: %d, and the file has %d", errDiffer, after.Pets, total.Written)
	}
	if err := i.compareMessages(math.MaxInt64); err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	_, err = fmt.Fprintf(i.out, "%d pets and %d queued messages copied and compared\n"+
		"Idempotency keys are not copied: a client that repeats an earlier creation now creates a second pet\n", total.Written, messages)
	return err
}

// compare compares the first n pets of the file with those in the cluster. It
// returns how many pets the file has.
func (i *importer) compare(n int64) (storage.Exported, error) {
	page := petstore.Page{}
	return pets(i.from, func(p petstore.Pet) error {
		if p.ID > n {
			return nil
		}
		if len(page.Pets) == 0 {
			q := petstore.ListQuery{Limit: petstore.MaxLimit}
			if p.ID > 1 {
				q.After = petstore.CursorAfter(p.ID - 1)
			}
			var err error
			if page, err = i.to.ListPets(i.ctx, q); err != nil {
				return err
			}
			if len(page.Pets) == 0 {
				return fmt.Errorf("%w: the pet %d is missing", errDiffer, p.ID)
			}
		}
		if page.Pets[0] != p {
			return fmt.Errorf("%w: see the pet %d", errDiffer, p.ID)
		}
		page.Pets = page.Pets[1:]
		return nil
	})
}

// Pets and messages are added in parts of about this size.
const (
	partLen   = 1000
	partBytes = 4 << 20
)

// add adds the pets after the n-th.
func (i *importer) add(n int64) error {
	var part []petstore.Pet
	size, reported := 0, n
	flush := func() error {
		if err := i.to.ImportPets(i.ctx, part); err != nil {
			return err
		}
		if last := part[len(part)-1].ID; last-reported >= 100_000 {
			reported = last
			fmt.Fprintf(i.out, "%d pets\n", last)
		}
		part, size = part[:0], 0
		return nil
	}
	_, err := pets(i.from, func(p petstore.Pet) error {
		if p.ID <= n {
			return nil
		}
		part = append(part, p)
		if size += len(p.Name); len(part) < partLen && size < partBytes {
			return nil
		}
		return flush()
	})
	if err == nil && len(part) > 0 {
		err = flush()
	}
	return err
}

// addMessages adds the queued messages, and returns how many the file has.
func (i *importer) addMessages() (int64, error) {
	var part []petstore.Message
	size := 0
	x, err := messages(i.from, func(m petstore.Message) error {
		part = append(part, m)
		if size += len(m.Text); len(part) < partLen && size < partBytes {
			return nil
		}
		err := i.to.ImportMessages(i.ctx, part, 0)
		part, size = part[:0], 0
		return err
	})
	if err == nil {
		err = i.to.ImportMessages(i.ctx, part, x.Last)
	}
	return x.Written, err
}

// compareMessages compares the queue in the cluster with the one in the file, up
// to the message with the number last.
func (i *importer) compareMessages(last int64) error {
	after := ""
	var queue []petstore.Message
	next := func() (err error) {
		if len(queue) == 0 {
			queue, err = i.to.MessagesAfter(i.ctx, after, petstore.MaxQueueLimit)
		}
		return err
	}
	_, err := messages(i.from, func(m petstore.Message) error {
		if n, ok := petstore.ParseMessageID(m.ID); ok && n > last {
			return nil
		}
		if err := next(); err != nil {
			return err
		}
		if len(queue) == 0 || queue[0].ID != m.ID || queue[0].Text != m.Text || queue[0].Status != m.Status || !queue[0].CreatedAt.Equal(m.CreatedAt) {
			return fmt.Errorf("%w: see %s", errDifferMessages, m.ID)
		}
		after, queue = m.ID, queue[1:]
		return nil
	})
	if err == nil {
		err = next()
	}
	if err == nil && len(queue) > 0 {
		err = fmt.Errorf("%w: see %s", errDifferMessages, queue[0].ID)
	}
	return err
}
