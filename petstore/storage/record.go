package storage

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// Record is a line of an export: a pet, a message or the end.
type Record struct {
	Line    int               // 1 is the first
	Pet     *petstore.Pet     // ID 0: the line has none
	Message *petstore.Message // ID "": the line has none
	End     *End
}

// End is the last line of an export. An export without it was cut short.
type End struct {
	Pets        int64 `json:"pets"`        // how many lines of pets there are
	Messages    int64 `json:"messages"`    // how many lines of messages there are
	LastMessage int64 `json:"lastMessage"` // the highest number of a message ever issued; -1: unknown
}

// ReadExport calls yield with each line of what [Export] wrote, until yield returns
// an error. The records are valid; an error in a line names the line. The last
// line may be missing. If it is there, its counts must be right.
func ReadExport(r io.Reader, yield func(Record) error) error {
	var read End
	ended := false
	lines := jsontext.NewDecoder(r)
	for n := 1; ; n++ {
		rec, err := decodeRecord(lines)
		switch {
		case err == io.EOF:
			return nil
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
			return fmt.Errorf("line %d: %w", n, err)
		}
		rec.Line = n
		if err := yield(rec); err != nil {
			return err
		}
	}
}

// maxMessage is the highest number of a message in an export. A store that has had
// more could run out of numbers.
const maxMessage = 1<<53 - 1

// exportLine has the members of every kind of line.
type exportLine struct {
	ID         jsontext.Value  `json:"id"`
	Name       *string         `json:"name"`
	CategoryID *int64          `json:"categoryId"`
	Status     petstore.Status `json:"status"`
	Message    *string         `json:"message"`
	CreatedAt  *time.Time      `json:"createdAt"`
	End        *End            `json:"end"`
}

// decodeRecord decodes and validates a line. It accepts any order of the members,
// but no other members.
func decodeRecord(lines *jsontext.Decoder) (Record, error) {
	var a exportLine
	err := json.UnmarshalDecode(lines, &a, json.RejectUnknownMembers(true))
	if e, ok := errors.AsType[*json.SemanticError](err); ok && e.JSONPointer != "" {
		return Record{}, fmt.Errorf("%s: an unknown member, or the wrong type or range", e.JSONPointer.LastToken())
	} else if err != nil {
		return Record{}, err
	}
	pet, message := a.Name != nil || a.CategoryID != nil, a.Message != nil || a.CreatedAt != nil
	switch {
	case pet && !message && a.End == nil:
		return a.pet()
	case message && !pet && a.End == nil:
		return a.message()
	case a.End != nil && !pet && !message:
		if a.End.LastMessage > maxMessage {
			return Record{}, fmt.Errorf("lastMessage: must be at most %d, got %d", int64(maxMessage), a.End.LastMessage)
		}
		return Record{End: a.End}, nil
	}
	return Record{}, errors.New("must be a pet, a message or the end of an export")
}

func (a *exportLine) pet() (Record, error) {
	if a.Name == nil || a.CategoryID == nil {
		return Record{}, errors.New("a pet must have a name and a categoryId")
	}
	p := petstore.Pet{NewPet: petstore.NewPet{Name: *a.Name, CategoryID: *a.CategoryID, Status: a.Status}}
	if a.ID != nil {
		var err error
		if p.ID, err = strconv.ParseInt(string(a.ID), 10, 64); err != nil || p.ID < 1 {
			return Record{}, fmt.Errorf("id: must be a positive integer, got %.100s", a.ID)
		}
	}
	return Record{Pet: &p}, p.Validate()
}

func (a *exportLine) message() (Record, error) {
	if a.Message == nil || a.CreatedAt == nil || a.Status != petstore.Status(petstore.MessageQueued) {
		return Record{}, errors.New(`a message must have a message, a createdAt and the status "queued"`)
	}
	if t := *a.CreatedAt; !time.Unix(0, t.UnixNano()).Equal(t) {
		return Record{}, errors.New("createdAt: must be in the years 1678 to 2261")
	}
	m := petstore.Message{Text: *a.Message, Status: petstore.MessageQueued, CreatedAt: *a.CreatedAt}
	if a.ID != nil {
		m.ID = strings.Trim(string(a.ID), `"`)
		if n, ok := petstore.ParseMessageID(m.ID); !ok || n > maxMessage {
			return Record{}, fmt.Errorf("id: must be from msg_1 to msg_%d, got %.100s", int64(maxMessage), a.ID)
		}
	}
	return Record{Message: &m}, petstore.ValidateText(m.Text)
}
