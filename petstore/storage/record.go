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
	Message *petstore.Message // the ID may be of any form
	End     *End
}

// End is the last line of an export. An export without it was cut short.
type End struct {
	Pets        int64 `json:"pets"`        // how many lines of pets there are
	Messages    int64 `json:"messages"`    // how many lines of messages there are
	LastMessage int64 `json:"lastMessage"` // the highest number of a message ever issued; -1: unknown
}

// ReadExport calls yield with each line of what [Export] wrote, until yield returns an
// error. An error in a line names the line. The last line may be missing. If it is
// there, its counts must be right.
func ReadExport(r io.Reader, yield func(Record) error) error {
	lines := jsontext.NewDecoder(r)
	var read End
	ended := false
	for n := 1; ; n++ {
		rec, err := readRecord(lines)
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

// readRecord reads a line. It accepts any order of the members, but no other members.
func readRecord(lines *jsontext.Decoder) (Record, error) {
	var l exportLine
	if err := json.UnmarshalDecode(lines, &l, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, err
	}
	switch {
	case l.End != nil:
		return Record{End: l.End}, nil
	case l.Name != nil && l.CategoryID != nil && l.Message == nil:
		p := &petstore.Pet{NewPet: petstore.NewPet{Name: *l.Name, CategoryID: *l.CategoryID, Status: l.Status}}
		p.ID, _ = strconv.ParseInt(string(l.ID), 10, 64)
		return Record{Pet: p}, p.Validate()
	case l.Message != nil && l.CreatedAt != nil && l.Status == petstore.Status(petstore.MessageQueued) && l.Name == nil:
		return Record{Message: &petstore.Message{
			ID:        strings.Trim(string(l.ID), `"`),
			Text:      *l.Message,
			Status:    petstore.MessageQueued,
			CreatedAt: *l.CreatedAt,
		}}, nil
	}
	return Record{}, errors.New(`must be a pet with a name and a categoryId, a message with a createdAt and the status "queued", or the end of an export`)
}
