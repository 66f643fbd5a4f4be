package lines

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/petjson"
	"example.com/animalstore/petstore/internal/rules"
)

// anyRecord has the members of every kind of record.
type anyRecord struct {
	petjson.Members
	Message *string    `json:"message"`
	Created *time.Time `json:"createdAt"`
	Outcome *Outcome   `json:"outcome"`
	End     *End       `json:"end"`
}

// parse reads a record. Its members may be in any order. A member of another kind of record is
// an error, so that nothing is lost in silence.
func parse(line []byte) (Record, error) {
	var rec anyRecord
	if err := rec.unmarshal(line); err != nil {
		return Record{}, err
	}
	pet, message := rec.OnlyPets(), rec.Message != nil || rec.Created != nil
	shared := rec.ID != nil || rec.Status != nil // by pets and messages
	outcome, end := rec.Outcome != nil, rec.End != nil
	switch {
	case pet && !message && !outcome && !end:
		if rec.ID == nil {
			return Record{}, errors.New("id: is missing; docs/operations.md shows how to number pets")
		}
		p, err := rec.Pet()
		if err == nil {
			err = p.Validate()
		}
		return Record{Pet: &p}, err
	case rec.Message != nil && rec.Created != nil && !pet && !outcome && !end:
		m, err := rec.message()
		return Record{Message: m}, err
	case outcome && !pet && !message && !shared && !end:
		return Record{Outcome: rec.Outcome}, checkTime(&rec.Outcome.Created)
	case end && !pet && !message && !shared && !outcome:
		return Record{End: rec.End}, nil
	}
	return Record{}, errors.New("must be a pet with a name and a categoryId, a message with a createdAt, an outcome, or the end")
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

func (rec *anyRecord) message() (*petstore.Message, error) {
	var id string
	_ = json.Unmarshal(rec.ID, &id) // "" if it is missing or invalid
	var status petstore.MessageStatus
	if json.Unmarshal(rec.Status, &status) != nil || status != petstore.MessageQueued {
		return nil, errors.New(`status: must be "queued"`)
	}
	created := rules.MessageTime(*rec.Created)
	if err := checkTime(&created); err != nil {
		return nil, err
	}
	return &petstore.Message{ID: id, Text: *rec.Message, Status: status, CreatedAt: created}, petstore.ValidateText(*rec.Message)
}

// checkTime rounds t as stores do, and returns an error if it cannot be written as JSON again.
func checkTime(t *time.Time) error {
	*t = t.UTC().Truncate(time.Microsecond)
	if t.Year() > 9999 || t.Year() < 0 {
		return errors.New("createdAt: must be from the year 0 to 9999")
	}
	return nil
}
