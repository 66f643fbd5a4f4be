package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/stores"
)

// ExportRecord is a line of an export: a pet, a message or the end. The others are nil.
type ExportRecord struct {
	Line    int               // the number of the line; the first is 1
	Pet     *petstore.Pet     // ID 0: the line has no valid one
	Message *petstore.Message // the ID may be of any form
	End     *ExportEnd
}

// ExportEnd is the last line of an export. An export without it was cut short.
type ExportEnd struct {
	Pets        int64 `json:"pets"`        // how many lines of pets there are
	Messages    int64 `json:"messages"`    // how many lines of messages there are
	LastMessage int64 `json:"lastMessage"` // the highest number of a message ever issued; -1: unknown
}

// maxNumber is the highest number of a message that is read. It leaves room for more
// messages than can ever be submitted.
const maxNumber int64 = 1 << 62

// DefaultMaxText is how many bytes a name or the text of a message of an export may have,
// unless the caller sets another limit. A body that httpapi accepts by default has fewer.
const DefaultMaxText = 64 << 10

// ReadExport yields each record of what [Export] wrote, until an error. maxText is as in
// [ImportOptions]. There must be one JSON object on each line; empty lines are ignored.
// The error of a line names it. The end may be missing. If it is there, its counts must
// be right.
func ReadExport(r io.Reader, maxText int) iter.Seq2[ExportRecord, error] {
	if maxText <= 0 {
		maxText = DefaultMaxText
	}
	maxText = min(maxText, 1<<28)
	return func(yield func(ExportRecord, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, (6*maxText)+(64<<10)) // all characters of a text may be escaped
		var read ExportEnd
		ended := false
		n := 1
		for ; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			rec, err := readRecord(lines.Bytes(), maxText)
			rec.Line = n
			switch {
			case err != nil:
			case ended:
				err = errors.New("there is more after the end of the export")
			case rec.Pet != nil:
				read.Pets++
			case rec.Message != nil:
				read.Messages++
			case rec.End.Pets != read.Pets || rec.End.Messages != read.Messages:
				err = fmt.Errorf("the last line counts %d pets and %d messages, but %d and %d precede it",
					rec.End.Pets, rec.End.Messages, read.Pets, read.Messages)
			default:
				ended = true
			}
			if err != nil {
				err = fmt.Errorf("line %d: %w", n, err)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d: %w for a name or message of %d bytes", n, ErrTooLong, maxText)
		}
		if err != nil {
			yield(ExportRecord{}, err)
		}
	}
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
func readRecord(line []byte, maxText int) (ExportRecord, error) {
	var rec anyRecord
	if err := rec.unmarshal(line); err != nil {
		return ExportRecord{}, err
	}
	status := ""
	if rec.Status != nil && (json.Unmarshal(rec.Status, &status) != nil || status == "") { // of null, too
		return ExportRecord{}, fmt.Errorf("status: must be one of available, pending, sold, or be left out, got %.40s", rec.Status)
	}
	for name, text := range map[string]*string{"name": rec.Name, "message": rec.Message} {
		if text != nil && len(*text) > maxText {
			return ExportRecord{}, fmt.Errorf("%s: %w: must have at most %d bytes, got %d", name, ErrTooLong, maxText, len(*text))
		}
	}
	switch {
	case rec.End != nil && rec.ID == nil && rec.Name == nil && rec.Message == nil:
		if rec.End.LastMessage > maxNumber {
			return ExportRecord{}, fmt.Errorf("lastMessage: must be at most %d", maxNumber)
		}
		return ExportRecord{End: rec.End}, nil
	case rec.Name != nil && rec.CategoryID != nil && rec.Message == nil && rec.End == nil:
		p := &petstore.Pet{NewPet: petstore.NewPet{Name: *rec.Name, CategoryID: *rec.CategoryID, Status: petstore.Status(status)}}
		p.ID, _ = strconv.ParseInt(string(rec.ID), 10, 64)
		return ExportRecord{Pet: p}, p.Validate()
	case rec.Message != nil && rec.CreatedAt != nil && status == string(petstore.MessageQueued) && rec.Name == nil && rec.End == nil:
		m := &petstore.Message{
			ID:        strings.Trim(string(rec.ID), `"`),
			Text:      *rec.Message,
			Status:    petstore.MessageQueued,
			CreatedAt: *rec.CreatedAt,
		}
		if n, ok := stores.ParseMessageID(m.ID); ok && n > maxNumber {
			return ExportRecord{}, fmt.Errorf("id: must be at most %s", stores.MessageID(maxNumber))
		}
		if !time.Unix(0, m.CreatedAt.UnixNano()).Equal(m.CreatedAt) {
			return ExportRecord{}, errors.New("createdAt: must be from the year 1678 to 2261")
		}
		return ExportRecord{Message: m}, nil
	}
	return ExportRecord{}, errors.New(`must be a pet with a name and a categoryId, a message with a createdAt and the status "queued", or the end of an export`)
}
