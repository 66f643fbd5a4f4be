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

// maxNumber is the highest number of a message that is read. It leaves room for more
// messages than can ever be submitted.
const maxNumber int64 = 1 << 62

// ReadExport calls yield with each record of what [Export] wrote, until yield returns an
// error. The error names the record by its number; the first is 1. The end may be
// missing. If it is there, its counts must be right.
func ReadExport(r io.Reader, yield func(Record) error) error {
	decoder := jsontext.NewDecoder(r)
	var read End
	ended := false
	for n := 1; ; n++ {
		rec, err := readRecord(decoder)
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
		if err == nil {
			err = yield(rec)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
	}
}

// anyRecord has the members of every kind of record.
type anyRecord struct {
	ID         jsontext.Value  `json:"id"`
	Name       *string         `json:"name"`
	CategoryID *int64          `json:"categoryId"`
	Status     petstore.Status `json:"status"`
	Message    *string         `json:"message"`
	CreatedAt  *time.Time      `json:"createdAt"`
	End        *End            `json:"end"`
}

// readRecord reads a record. It accepts any order of the members, but none that no kind
// of record has.
func readRecord(decoder *jsontext.Decoder) (Record, error) {
	var rec anyRecord
	if err := json.UnmarshalDecode(decoder, &rec, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, err
	}
	switch {
	case rec.End != nil:
		if rec.End.LastMessage > maxNumber {
			return Record{}, fmt.Errorf("lastMessage: must be at most %d", maxNumber)
		}
		return Record{End: rec.End}, nil
	case rec.Name != nil && rec.CategoryID != nil && rec.Message == nil:
		p := &petstore.Pet{NewPet: petstore.NewPet{Name: *rec.Name, CategoryID: *rec.CategoryID, Status: rec.Status}}
		p.ID, _ = strconv.ParseInt(string(rec.ID), 10, 64)
		return Record{Pet: p}, p.Validate()
	case rec.Message != nil && rec.CreatedAt != nil && rec.Status == petstore.Status(petstore.MessageQueued) && rec.Name == nil:
		m := &petstore.Message{
			ID:        strings.Trim(string(rec.ID), `"`),
			Text:      *rec.Message,
			Status:    petstore.MessageQueued,
			CreatedAt: *rec.CreatedAt,
		}
		if n, ok := petstore.ParseMessageID(m.ID); ok && n > maxNumber {
			return Record{}, fmt.Errorf("id: must be at most %s", petstore.MessageID(maxNumber))
		}
		if !time.Unix(0, m.CreatedAt.UnixNano()).Equal(m.CreatedAt) {
			return Record{}, errors.New("createdAt: must be from the year 1678 to 2261")
		}
		return Record{Message: m}, nil
	}
	return Record{}, errors.New(`must be a pet with a name and a categoryId, a message with a createdAt and the status "queued", or the end of an export`)
}
