package storage

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"example.com/animalstore/internal/newfile"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// maxPart is how many bytes an export reads at a time: so few that the read is short. It is
// little in tests.
var maxPart = 1 << 20

// Totals counts what an export has written, or what an import has stored.
type Totals struct {
	Pets, Messages, Outcomes int64

	// How many records the file should hold that [Export] could not read; -1: unknown. They
	// are 0 after an import.
	LostPets, LostMessages, LostOutcomes int64
}

// Export writes what the store holds to w, for [Import]: the pets, the queued messages, the
// outcomes of idempotency keys that have not expired, and the next ID of each kind. They
// are one JSON object on each line, of the moment when the call began. It may be called at
// any time, and other calls go on.
//
// It reads about a megabyte at a time and writes it after the read, so that a slow w holds
// back no other call and the file does not grow. The pets and outcomes are exactly those of
// the moment, but for outcomes that expire during the call. Messages that are removed during
// the call may be missing.
//
// Export reads all pets. If it finds damage ([ErrDamaged]), it fails, and the store refuses
// changes and exports. It also fails when ctx ends or the store is closed, once w has
// returned, and with any error of w. Then what was written is not complete, and an import
// refuses it.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	if e := s.damage.Load(); e != nil {
		return e
	}
	x := newExporter(w, nil)
	x.began = s.opts.now()
	x.view = func(fn func(*snapshot) error) error { return s.view(ctx, fn) }
	return x.all()
}

// Export writes what the file at path holds to w, as [Store.Export] does. It changes nothing,
// and has the errors of [Check]. The tables of the statuses are only read to skip damage.
//
// If onDamage is nil, the first damage ends the export. Otherwise it is called with each
// damage, and Export writes all records that pass their checksum and can be reached; the
// Totals say whether some were lost. A pet in a damaged block comes from the table of its
// status. The outcome of a pet or message that is known to be lost is left out, so that it is
// created again when the request is repeated.
func Export(path string, w io.Writer, onDamage func(error)) (Totals, error) {
	x := newExporter(w, onDamage)
	err := exportFile(path, x)
	if err != nil {
		err = fmt.Errorf("exporting from the store %s: %w", path, err)
	}
	return x.totals(), err
}

func exportFile(path string, x *exporter) error {
	return readFile(path, x.damage, func(tx *snapshot) error {
		x.view = func(fn func(*snapshot) error) error { return fn(tx) }
		return x.all()
	})
}

// CreateExportFile makes a file at path, for its owner only, of what export writes, whole or
// not at all. It is compressed with gzip if its name ends in .gz. Until it is on disk, the
// name of the file ends in .part; a process that is killed leaves that. The error wraps
// fs.ErrExist if there is a file, or is that of export.
func CreateExportFile(path string, export func(w io.Writer) error) error {
	return newfile.Create(path, func(temp *os.File) error {
		if !strings.HasSuffix(path, ".gz") {
			return export(temp)
		}
		out := bufio.NewWriterSize(temp, 1<<16)          // gzip writes little at a time
		z, _ := gzip.NewWriterLevel(out, gzip.BestSpeed) // a valid level
		if err := export(z); err != nil {
			return err
		}
		return cmp.Or(z.Close(), out.Flush())
	})
}

// exporter is an export under way.
type exporter struct {
	onDamage func(error) // nil: damage is not skipped

	view   func(func(*snapshot) error) error // calls a function with what is stored now
	w      io.Writer
	part   bytes.Buffer  // what was read, and is not written to w yet
	out    *lines.Writer // to part
	began  time.Time
	start  state // of the store when the export began
	unsure bool  // the last commit may be missing from the file

	// What was read last.
	pet, message int64
	key          []byte // of an outcome

	readers        []*petReader   // of the table of all pets and, to skip damage, those of the statuses
	passed         int            // how many bytes of outcomes were read for the part
	lost           []idGap        // which pets may be lost
	lostMessages   map[int64]bool // which messages are damaged
	lostRest       bool           // all messages after the last one that was read
	lostOutcomes   int64          // of lost pets and messages
	outcomesUnsure bool           // further outcomes may be lost
}

func newExporter(w io.Writer, onDamage func(error)) *exporter {
	x := &exporter{
		onDamage: onDamage, w: w, began: time.Now(),
		readers: []*petReader{{table: allPets}}, lostMessages: make(map[int64]bool),
	}
	x.out = lines.NewWriter(&x.part)
	for i := 1; i < len(petTables) && onDamage != nil; i++ {
		x.readers = append(x.readers, &petReader{table: i})
	}
	return x
}

// all writes the export.
func (x *exporter) all() error {
	if err := x.view(x.begin); err != nil {
		return err
	}
	for _, read := range []func(*snapshot) (done bool, err error){x.readPets, x.readMessages, x.readOutcomes} {
		for done := false; !done; {
			err := x.view(func(tx *snapshot) (err error) {
				done, err = read(tx)
				return err
			})
			if err == nil {
				_, err = x.part.WriteTo(x.w)
			}
			if err != nil {
				return err
			}
			x.passed = 0
		}
	}
	lastPet, lastMessage := x.start.LastPet, x.start.LastMessage
	if x.unsure || !x.start.known() { // do not issue the IDs of a lost commit again
		lastPet = min(lastPet, math.MaxInt64-maxWaiting) + maxWaiting
		lastMessage = min(lastMessage, math.MaxInt64-maxWaiting) + maxWaiting
	}
	if err := x.out.End(lastPet, lastMessage, x.began); err != nil {
		return err
	}
	_, err := x.part.WriteTo(x.w)
	return err
}

// begin reads the state that the export is of.
func (x *exporter) begin(tx *snapshot) error {
	x.start = tx.state
	if !tx.known() {
		x.start.LastIDs[allPets] = math.MaxInt64
	}
	return x.damage(safely(tx.countMessages))
}

// full reports whether so much was read for the part that the read should end.
func (x *exporter) full() bool { return x.part.Len()+x.passed >= maxPart }

// readMessages reads messages into the part, up to a page that cannot be read.
func (x *exporter) readMessages(tx *snapshot) (done bool, err error) {
	done = true
	err = safely(func() error {
		for m, err := range tx.messages(x.message) {
			n, _ := rules.ParseMessageID(m.ID)
			if err != nil {
				x.lostMessages[n] = true
				if err := x.damage(err); err != nil {
					return err
				}
				continue
			}
			if tx.known() && n > x.start.LastMessage { // it was added after the export began
				return nil
			}
			if err := x.out.Message(&m); err != nil {
				return err
			}
			x.message = n
			x.start.LastMessage = max(x.start.LastMessage, n)
			if done = !x.full(); !done {
				return nil
			}
		}
		return nil
	})
	x.lostRest = err != nil
	return done, x.damage(err)
}

// readOutcomes reads outcomes into the part, up to a page that cannot be read.
func (x *exporter) readOutcomes(tx *snapshot) (done bool, err error) {
	done = true
	err = safely(func() error {
		c := tableIn(tx.Tx, &outcomeTable).Cursor()
		k, v := c.Seek(x.key)
		if x.key != nil && bytes.Equal(k, x.key) {
			k, v = c.Next()
		}
		for ; k != nil; k, v = c.Next() {
			if err := x.readOutcome(tx, k, v); err != nil {
				x.outcomesUnsure = true
				if err := x.damage(err); err != nil {
					return err
				}
			}
			if done = !x.full(); !done {
				return nil
			}
		}
		return nil
	})
	x.outcomesUnsure = x.outcomesUnsure || err != nil
	return done, x.damage(err)
}

// readOutcome reads an outcome into the part, unless it has expired, or is of something that
// was lost or that was created after the export began.
func (x *exporter) readOutcome(tx *snapshot, key, value []byte) error {
	o, err := openOutcome(key, value)
	if err != nil {
		return err
	}
	if bytes.Compare(key, x.key) <= 0 {
		return damaged("%s is out of order", outcomeTable.name)
	}
	x.key = bytes.Clone(key)
	x.passed += len(key) + len(value)
	if !tx.known() {
		x.start.LastPet, x.start.LastMessage = max(x.start.LastPet, o.Pet), max(x.start.LastMessage, o.Message)
	}
	switch {
	case o.expired(x.began.UnixMicro()), o.Pet > x.start.LastPet, o.Message > x.start.LastMessage:
		return nil
	case x.hasLost(o.Pet), o.Message > 0 && x.lostMessages[o.Message], x.lostRest && o.Message > x.message:
		x.lostOutcomes++
		return nil
	}
	return x.out.Outcome(&lines.Outcome{
		Key:     [32]byte(key),
		Value:   o.Value,
		Pet:     o.Pet,
		Message: o.Message,
		Created: time.UnixMicro(o.Made).UTC(),
	})
}

// damage skips what err says is damaged, and returns nil if the export goes on. It
// returns any other error, and nil, as it is.
func (x *exporter) damage(err error) error {
	if x.onDamage == nil || !errors.Is(err, ErrDamaged) {
		return err
	}
	x.unsure = x.unsure || errors.Is(err, errUndecided)
	x.onDamage(err)
	return nil
}

// totals returns what was written, and what was lost.
func (x *exporter) totals() Totals {
	t := Totals{
		Pets: x.out.Pets, Messages: x.out.Messages, Outcomes: x.out.Outcomes,
		LostPets: -1, LostMessages: -1, LostOutcomes: x.lostOutcomes,
	}
	if x.start.known() && !x.unsure {
		t.LostPets, t.LostMessages = max(-1, x.start.Pets-t.Pets), max(-1, x.start.Queued-t.Messages)
	}
	if x.outcomesUnsure || x.unsure {
		t.LostOutcomes = -1
	}
	return t
}
