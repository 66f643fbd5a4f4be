package storage

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"os"
	"strings"
	"time"

	"example.com/animalstore/internal/files"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// maxPart is how many bytes an export reads at a time: so few that the read is short.
const maxPart = 1 << 20

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
	x := exporter{began: time.Now().UnixMicro()}
	x.out = lines.NewWriter(&x.part)
	begin := func(snap *snapshot) (bool, error) { x.start = snap.state; return true, nil }
	end := func(*snapshot) (bool, error) { return true, x.out.End(x.start.LastPet, x.start.LastMessage) }
	for _, read := range []func(*snapshot) (done bool, err error){begin, x.readPets, x.readMessages, x.readOutcomes, end} {
		for done := false; !done; {
			err := s.view(ctx, func(snap *snapshot) (err error) {
				done, err = read(snap)
				return err
			})
			if err == nil {
				_, err = x.part.WriteTo(w)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateExportFile makes a file at path, for its owner only, of what export writes, whole or
// not at all. It is compressed with gzip if its name ends in .gz. Until it is on disk, the
// name of the file ends in .part; a process that is killed leaves that. The error wraps
// fs.ErrExist if there is a file, or is that of export.
func CreateExportFile(path string, export func(w io.Writer) error) error {
	return files.Create(path, func(temp *os.File) error {
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

// exporter is an export under way. Its methods read what follows what was read last, and
// report whether that was all.
type exporter struct {
	part  bytes.Buffer  // what was read, and is not written yet
	out   *lines.Writer // to part
	began int64         // in microseconds since 1970
	start state         // of the store when the export began

	// What was read last.
	pet              int64
	message, outcome []byte // the keys
}

func (x *exporter) readPets(snap *snapshot) (done bool, err error) {
	for b, err := range snap.blocks(allPets, x.pet) {
		if err != nil {
			return false, err
		}
		for b.pets() > 0 {
			id, json := b.next()
			if id > x.start.LastPet { // it was added after the export began
				return true, nil
			}
			if err := x.out.Pet(json); err != nil {
				return false, err
			}
			x.pet = id
		}
		if x.part.Len() >= maxPart {
			return false, nil
		}
	}
	return true, nil
}

func (x *exporter) readMessages(snap *snapshot) (done bool, err error) {
	for rec, err := range tableIn(snap.Tx, &queueTable).after(x.message) {
		if err != nil {
			return false, err
		}
		if int64At(rec.key) > x.start.LastMessage { // it was added after the export began
			break
		}
		m := messageOf(rec.key, rec.value)
		if err := x.out.Message(&m); err != nil {
			return false, err
		}
		x.message = bytes.Clone(rec.key)
		if x.part.Len() >= maxPart {
			return false, nil
		}
	}
	return true, nil
}

// readOutcomes leaves out outcomes that have expired, and those of what was created after the
// export began.
func (x *exporter) readOutcomes(snap *snapshot) (done bool, err error) {
	n := 0
	for rec, err := range tableIn(snap.Tx, &outcomeTable).after(x.outcome) {
		if err != nil {
			return false, err
		}
		x.outcome = bytes.Clone(rec.key)
		o := outcomeOf(rec.key, rec.value)
		if !o.Expired(x.began) && o.Pet <= x.start.LastPet && o.Message <= x.start.LastMessage {
			if err := x.out.Outcome(o); err != nil {
				return false, err
			}
		}
		if n += len(rec.value); n >= maxPart {
			return false, nil
		}
	}
	return true, nil
}
