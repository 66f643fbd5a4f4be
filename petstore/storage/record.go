package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
)

// ExportRecord is a line of an export: a pet, a message or the end. Exactly one field is set.
type ExportRecord struct {
	Pet     *petstore.Pet
	Message *petstore.Message
	End     *ExportEnd
}

// ExportEnd is the last line of an export. An export without it was cut short.
type ExportEnd struct {
	Pets        int64 `json:"pets"`        // how many lines of pets there are
	Messages    int64 `json:"messages"`    // how many lines of messages there are
	LastMessage int64 `json:"lastMessage"` // the highest number of a message ever issued; -1: unknown
}

// AppendLine appends rec as a line of an export.
func (rec ExportRecord) AppendLine(b []byte) ([]byte, error) {
	var err error
	if rec.Pet != nil {
		b, err = rec.Pet.AppendJSON(b)
		return append(b, '\n'), err
	}
	var v any = rec.Message
	if rec.End != nil {
		v = map[string]*ExportEnd{"end": rec.End}
	}
	line, err := json.Marshal(v)
	return append(append(b, line...), '\n'), err
}

// maxLine is the maximum length of a line, in bytes: every byte of a text may be escaped as
// in \u0000, and there are other members.
const maxLine = 6*petstore.MaxTextBytes + 64<<10

// ReadExport yields each record of what [Export] wrote, until an error. There must be one
// JSON object on each line; empty lines are ignored. The error of a line names it. If
// opts.NewIDs is set, the records have the new IDs. opts may be nil. As r is read, the
// sequence can be used once.
func ReadExport(r io.Reader, opts *ImportOptions) iter.Seq2[ExportRecord, error] {
	var p progress
	if opts != nil {
		p.ImportOptions = *opts
	}
	return func(yield func(ExportRecord, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine+1)
		n := 1
		for ; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			rec, err := readRecord(lines.Bytes())
			if err == nil {
				err = p.add(rec)
			}
			if err != nil {
				err = fmt.Errorf("line %d: %w", n, err)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(ExportRecord{}, fmt.Errorf("line %d: must have at most %d bytes", n, maxLine))
		case err != nil:
			yield(ExportRecord{}, err)
		case !p.ended && p.Pets+p.Messages == 0:
			yield(ExportRecord{}, errors.New("there is nothing to import"))
		case !p.ended && !p.NewIDs:
			yield(ExportRecord{}, errors.New("the export was cut short: its last line is missing"))
		}
	}
}

// progress is how far an export was read.
type progress struct {
	ImportOptions
	Totals
	lastMessage int64 // the highest number
	ended       bool
}

// add makes sure that rec may be the next record, and gives it its new ID.
func (p *progress) add(rec ExportRecord) error {
	switch pet, m, end := rec.Pet, rec.Message, rec.End; {
	case p.ended:
		return errors.New("there is more after the end of the export")
	case pet != nil:
		p.Pets++
		if pet.ID != p.Pets && !p.NewIDs {
			return fmt.Errorf("%w: the pet has the ID %d, want %d", ErrIDs, pet.ID, p.Pets)
		}
		pet.ID = p.Pets
	case m != nil:
		p.Messages++
		n, ok := stores.ParseMessageID(m.ID)
		if !ok || n <= p.lastMessage {
			if !p.NewIDs || p.lastMessage == math.MaxInt64 {
				return fmt.Errorf("%w: the message has the ID %q and follows number %d", ErrIDs, m.ID, p.lastMessage)
			}
			n = p.lastMessage + 1
		}
		p.lastMessage, m.ID = n, stores.MessageID(n)
	case end.Pets != p.Pets || end.Messages != p.Messages:
		return fmt.Errorf("the last line counts %d pets and %d messages, but %d and %d precede it", end.Pets, end.Messages, p.Pets, p.Messages)
	default:
		p.ended = true
	}
	return nil
}

// anyRecord has the members of every kind of record.
type anyRecord struct {
	ID         jsontext.Value `json:"id"`
	Name       *string        `json:"name"`
	CategoryID *int64         `json:"categoryId"`
	Status     jsontext.Value `json:"status"`
	Message    *string        `json:"message"`
	CreatedAt  *time.Time     `json:"createdAt"`
	End        *ExportEnd     `json:"end"`
}

// unmarshal decodes a line. Its errors do not mention Go types.
func (rec *anyRecord) unmarshal(line []byte) error {
	err := json.Unmarshal(line, rec, json.RejectUnknownMembers(true))
	e, semantic := errors.AsType[*json.SemanticError](err)
	switch {
	case err == nil && jsontext.Value(line).Kind() == '{':
		return nil
	case !semantic && err != nil:
		return fmt.Errorf("must be one JSON object on each line: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
	case !semantic || e.JSONPointer == "":
		return errors.New("must be one JSON object on each line")
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown member %q", e.JSONPointer.LastToken())
	}
	where := strings.TrimPrefix(string(e.JSONPointer), "/")
	if e.Err != nil {
		return fmt.Errorf("%s: %w", where, e.Err)
	}
	return fmt.Errorf("%s: must not be a JSON value of the kind %v", where, e.JSONKind)
}

// readRecord reads a record. It accepts any order of the members, but none that no kind
// of record has.
func readRecord(line []byte) (ExportRecord, error) {
	var rec anyRecord
	if err := rec.unmarshal(line); err != nil {
		return ExportRecord{}, err
	}
	status := ""
	if rec.Status != nil && (json.Unmarshal(rec.Status, &status) != nil || status == "") { // of null, too
		return ExportRecord{}, fmt.Errorf("status: must be one of available, pending, sold, or be left out, got %.40s", rec.Status)
	}
	switch {
	case rec.End != nil && rec.ID == nil && rec.Name == nil && rec.Message == nil:
		return ExportRecord{End: rec.End}, nil
	case rec.Name != nil && rec.CategoryID != nil && rec.Message == nil && rec.CreatedAt == nil && rec.End == nil:
		p := &petstore.Pet{NewPet: petstore.NewPet{Name: *rec.Name, CategoryID: *rec.CategoryID, Status: petstore.Status(status)}}
		p.ID, _ = strconv.ParseInt(string(rec.ID), 10, 64)
		return ExportRecord{Pet: p}, p.Validate()
	case rec.Message != nil && rec.CreatedAt != nil && status == string(petstore.MessageQueued) && rec.Name == nil && rec.CategoryID == nil && rec.End == nil:
		m := &petstore.Message{
			ID:        strings.Trim(string(rec.ID), `"`),
			Text:      *rec.Message,
			Status:    petstore.MessageQueued,
			CreatedAt: stores.MessageTime(*rec.CreatedAt),
		}
		if !time.Unix(0, m.CreatedAt.UnixNano()).Equal(m.CreatedAt) {
			return ExportRecord{}, errors.New("createdAt: must be from the year 1678 to 2261")
		}
		return ExportRecord{Message: m}, petstore.ValidateText(m.Text)
	}
	return ExportRecord{}, errors.New(`must be a pet with a name and a categoryId, a message with a createdAt and the status "queued", or the end of an export`)
}
