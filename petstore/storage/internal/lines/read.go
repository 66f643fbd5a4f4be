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
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/internal/rules"
)

// ErrMalformed says that what was read is not a whole and unchanged export.
var ErrMalformed = errors.New("the export is damaged or malformed")

// MaxLine is the maximum length of a line, in bytes: every byte of a text may be escaped as
// in \u0000, and there are other members.
const MaxLine = 6*petstore.MaxTextBytes + 64<<10

// Reader reads an export.
type Reader struct {
	lines *bufio.Scanner
	line  int   // the number of the last one that was read
	err   error // of the header of gzip

	end     End               // of the lines that were read
	lastKey [sha256.Size]byte // of an outcome
	ended   bool
}

// NewReader returns a reader of r, which may be compressed with gzip.
func NewReader(r io.Reader) *Reader {
	b := bufio.NewReader(r)
	x := &Reader{lines: bufio.NewScanner(b)}
	if start, _ := b.Peek(2); string(start) == "\x1f\x8b" {
		var z *gzip.Reader
		z, x.err = gzip.NewReader(b)
		x.lines = bufio.NewScanner(z)
	}
	x.lines.Buffer(nil, MaxLine+1)
	return x
}

// Next returns the next record, or io.EOF after the end. Any other error wraps [ErrMalformed]
// and names the line, unless it is an fs.PathError, of a file that cannot be read. An import
// must store nothing then.
func (r *Reader) Next() (Record, error) {
	r.line++
	rec, err := r.next()
	if err != nil && err != io.EOF && !errors.As(err, new(*fs.PathError)) {
		err = fmt.Errorf("%w: line %d: %w", ErrMalformed, r.line, err)
	}
	return rec, err
}

func (r *Reader) next() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	if r.lines.Scan() && r.lines.Err() == nil { // with an error comes part of a line
		return r.record(r.lines.Bytes())
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Record{}, fmt.Errorf("must have at most %d bytes", MaxLine)
	case err != nil:
		return Record{}, fmt.Errorf("it cannot be read further: %w", err)
	case !r.ended:
		return Record{}, errors.New("is missing: the export was cut short")
	}
	return Record{}, io.EOF
}

// anyRecord has the members of every kind of record.
type anyRecord struct {
	petjson.Members
	Message *string    `json:"message"`
	Created *time.Time `json:"createdAt"`
	Outcome *Outcome   `json:"outcome"`
	End     *End       `json:"end"`
}

// unmarshal decodes a line. Its errors name the member, and no types of Go.
func (rec *anyRecord) unmarshal(line []byte) error {
	err := json.Unmarshal(line, rec, json.RejectUnknownMembers(true))
	e, semantic := errors.AsType[*json.SemanticError](err)
	switch {
	case err == nil && jsontext.Value(line).Kind() == '{': // null is no error
		return nil
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("no record has the member %q", e.JSONPointer.LastToken())
	case semantic && e.JSONPointer != "":
		return fmt.Errorf("%s: must have the form that it has in an export", e.JSONPointer[1:])
	case err != nil && !semantic:
		return fmt.Errorf("must be one JSON object on each line: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	return errors.New("must be one JSON object on each line")
}

// record returns the record of a line. Its members may be in any order. A member of another kind
// of record is an error, so that nothing is lost in silence.
func (r *Reader) record(text []byte) (rec Record, err error) {
	if r.ended {
		return rec, errors.New("there is more after the end")
	}
	var line anyRecord
	if err := line.unmarshal(text); err != nil {
		return rec, err
	}
	pet, message := line.Name != nil || line.CategoryID != nil, line.Message != nil || line.Created != nil
	shared := line.ID != nil || line.Status != nil // by pets and messages
	outcome, end := line.Outcome != nil, line.End != nil
	switch {
	case pet && !message && !outcome && !end:
		rec.Pet, err = r.pet(&line)
	case line.Message != nil && line.Created != nil && !pet && !outcome && !end:
		rec.Message, err = r.message(&line)
	case outcome && !pet && !message && !shared && !end:
		rec.Outcome, err = line.Outcome, r.outcome(line.Outcome)
	case end && !pet && !message && !shared && !outcome:
		rec.End, err = line.End, r.compare(line.End)
	default:
		err = errors.New("must be a pet with a name and a categoryId, a message with a createdAt, an outcome, or the end")
	}
	rec.Size = len(text)
	r.end.CRC32C = crc32.Update(r.end.CRC32C, castagnoli, text)
	return rec, err
}

func (r *Reader) pet(line *anyRecord) (*petstore.Pet, error) {
	if line.ID == nil {
		return nil, errors.New("id: is missing; docs/operations.md shows how to number pets")
	}
	pet, err := line.Pet()
	if err == nil {
		err = pet.Validate()
	}
	if err == nil && pet.ID <= r.end.LastPet {
		err = fmt.Errorf("id: must be above %d, the highest one before it, got %d", r.end.LastPet, pet.ID)
	}
	r.end.Pets++
	r.end.LastPet = pet.ID
	return &pet, err
}

func (r *Reader) message(line *anyRecord) (*petstore.Message, error) {
	id, created := strings.Trim(string(line.ID), `"`), rules.MessageTime(*line.Created)
	n, ok := rules.ParseMessageID(id)
	switch {
	case string(line.Status) != `"queued"`:
		return nil, errors.New(`status: must be "queued"`)
	case created.Year() > 9999 || created.Year() < 0: // JSON cannot have it
		return nil, errors.New("createdAt: must be from the year 0 to 9999")
	case !ok || n <= r.end.LastMessage:
		return nil, fmt.Errorf("id: must be msg_ and a number above %d, the highest one before it, got %.100q", r.end.LastMessage, id)
	}
	r.end.Messages++
	r.end.LastMessage = n
	m := &petstore.Message{ID: id, Text: *line.Message, Status: petstore.MessageQueued, CreatedAt: created}
	return m, petstore.ValidateText("message", m.Text)
}

func (r *Reader) outcome(o *Outcome) error {
	switch {
	case o.Pet < 0 || o.Message < 0 || (o.Pet == 0) == (o.Message == 0):
		return errors.New("outcome: must have the ID of a pet or the number of a message")
	case bytes.Compare(o.Key[:], r.lastKey[:]) <= 0:
		return errors.New("outcome: must have a key, above that of the outcome before it")
	}
	r.end.Outcomes++
	r.lastKey = o.Key
	// What it names may be missing, but its ID must not be issued again.
	r.end.LastPet = max(r.end.LastPet, o.Pet)
	r.end.LastMessage = max(r.end.LastMessage, o.Message)
	return nil
}

// compare compares the end with the lines before it. It raises the highest numbers to those
// that were seen.
func (r *Reader) compare(end *End) error {
	r.ended = true
	switch {
	case end.Counts != r.end.Counts:
		return fmt.Errorf("end: it counts %d pets, %d messages and %d outcomes, but there are %d, %d and %d",
			end.Pets, end.Messages, end.Outcomes, r.end.Pets, r.end.Messages, r.end.Outcomes)
	case end.CRC32C != 0 && end.CRC32C != r.end.CRC32C:
		return errors.New("end: the lines before it were changed: they fail its checksum")
	}
	end.LastPet = max(end.LastPet, r.end.LastPet)
	end.LastMessage = max(end.LastMessage, r.end.LastMessage)
	return nil
}
