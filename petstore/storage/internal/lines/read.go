package lines

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// ErrMalformed says that what was read is not a whole and unchanged export.
var ErrMalformed = errors.New("the export is damaged or malformed")

// MaxLine is the maximum length of a line, in bytes: every byte of a text may be escaped as
// in \u0000, and there are other members.
const MaxLine = 6*petstore.MaxTextBytes + 64<<10

// Read yields each record of an export, until an error. It wraps [ErrMalformed] and names the
// line, unless it is an fs.PathError, of a file that cannot be read. An import must store
// nothing if there is an error, even after the end. As r is read, the sequence can be used once.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		fail := func(err error) {
			if !errors.As(err, new(*fs.PathError)) {
				err = fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			yield(Record{}, err)
		}
		text, err := decompressed(r)
		if err != nil {
			fail(err)
			return
		}
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, MaxLine+1)
		var p progress
		n := 1
		for ; lines.Scan() && lines.Err() == nil; n++ { // with an error comes part of a line
			rec, err := p.next(lines.Bytes())
			if err != nil {
				fail(fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			fail(fmt.Errorf("line %d: must have at most %d bytes", n, MaxLine))
		case err != nil:
			fail(fmt.Errorf("line %d: it cannot be read further: %w", n, err))
		case !p.ended:
			fail(errors.New("it was cut short: its last line is missing"))
		}
	}
}

// decompressed returns what r has, decompressed if it begins as the format of gzip does.
func decompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if start, _ := b.Peek(2); string(start) == "\x1f\x8b" {
		return gzip.NewReader(b)
	}
	return b, nil
}

// progress is how far an export was read.
type progress struct {
	Counts
	lastPet     int64             // the highest ID
	lastMessage int64             // the highest number
	lastKey     [sha256.Size]byte // of an outcome
	sum         uint32
	ended       bool
}

// next returns the record of the next line.
func (p *progress) next(line []byte) (Record, error) {
	if p.ended {
		return Record{}, errors.New("there is more after the end")
	}
	rec, err := parse(line)
	if err != nil {
		return Record{}, err
	}
	switch {
	case rec.Pet != nil:
		err = p.pet(rec.Pet)
	case rec.Message != nil:
		err = p.message(rec.Message)
	case rec.Outcome != nil:
		err = p.outcome(rec.Outcome)
	default:
		err = p.end(rec.End)
	}
	p.sum = crc32.Update(p.sum, castagnoli, line)
	return rec, err
}

func (p *progress) pet(pet *petstore.Pet) error {
	if pet.ID <= p.lastPet {
		return fmt.Errorf("id: must be above %d, the highest one before it, got %d", p.lastPet, pet.ID)
	}
	p.Pets++
	p.lastPet = pet.ID
	return nil
}

func (p *progress) message(m *petstore.Message) error {
	n, ok := rules.ParseMessageID(m.ID)
	if !ok || n <= p.lastMessage {
		return fmt.Errorf("id: must be msg_ and a number above %d, the highest one before it, got %.100q", p.lastMessage, m.ID)
	}
	p.Messages++
	p.lastMessage = n
	return nil
}

func (p *progress) outcome(o *Outcome) error {
	switch {
	case o.Pet < 0 || o.Message < 0 || (o.Pet == 0) == (o.Message == 0):
		return errors.New("outcome: must have the ID of a pet or the number of a message")
	case bytes.Compare(o.Key[:], p.lastKey[:]) <= 0:
		return errors.New("outcome: must have a key, above that of the outcome before it")
	}
	p.Outcomes++
	p.lastKey = o.Key
	// What it names may be missing, but its ID must not be issued again.
	p.lastPet = max(p.lastPet, o.Pet)
	p.lastMessage = max(p.lastMessage, o.Message)
	return nil
}

// end compares the end with the lines before it. It raises the highest numbers to those
// that were seen.
func (p *progress) end(end *End) error {
	p.ended = true
	switch {
	case end.Counts != p.Counts:
		return fmt.Errorf("end: it counts %d pets, %d messages and %d outcomes, but there are %d, %d and %d",
			end.Pets, end.Messages, end.Outcomes, p.Pets, p.Messages, p.Outcomes)
	case end.CRC32C != nil && *end.CRC32C != p.sum:
		return errors.New("end: the lines before it were changed: they fail its checksum")
	}
	end.LastPet = max(end.LastPet, p.lastPet)
	end.LastMessage = max(end.LastMessage, p.lastMessage)
	return nil
}
