package lines

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/jsonerror"
	"example.com/animalstore/petstore/internal/rules"
)

// anyRecord has the members of every kind of record.
type anyRecord struct {
	ID         jsontext.Value `json:"id"`
	Name       *string        `json:"name"`
	CategoryID *int64         `json:"categoryId"`
	Status     jsontext.Value `json:"status"`
	Message    *string        `json:"message"`
	Created    *time.Time     `json:"createdAt"`
	Outcome    *Outcome       `json:"outcome"`
	End        *End           `json:"end"`
}

// parse reads a record. Its members may be in any order. A member of another kind of record
// is an error.
func parse(line []byte) (Record, error) {
	var rec anyRecord
	if err := rec.unmarshal(line); err != nil {
		return Record{}, err
	}
	// Each kind has its own members and no others.
	hasID, hasStatus := rec.ID != nil, rec.Status != nil
	members := count(hasID, rec.Name != nil, rec.CategoryID != nil, hasStatus,
		rec.Message != nil, rec.Created != nil, rec.Outcome != nil, rec.End != nil)
	switch {
	case rec.Name != nil && rec.CategoryID != nil && members == count(hasID, true, true, hasStatus):
		pet, err := rec.pet()
		return Record{Pet: pet}, err
	case rec.Message != nil && rec.Created != nil && members == count(hasID, hasStatus, true, true):
		m, err := rec.message()
		return Record{Message: m}, err
	case rec.Outcome != nil && members == 1:
		return Record{Outcome: rec.Outcome}, checkTime(&rec.Outcome.Created)
	case rec.End != nil && members == 1:
		return Record{End: rec.End}, nil
	}
	return Record{}, errors.New("must be a pet with a name and a categoryId, a message with a createdAt, an outcome, or the end")
}

// count returns how many of its arguments are true.
func count(is ...bool) (n int) {
	for _, b := range is {
		if b {
			n++
		}
	}
	return n
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
	return jsonerror.Explain(e, "")
}

func (rec *anyRecord) pet() (*petstore.Pet, error) {
	id, _ := strconv.ParseInt(string(rec.ID), 10, 64) // 0, which the reader refuses, if it is missing or invalid
	var status petstore.Status
	// It may be missing, but not null or empty.
	if rec.Status != nil && (json.Unmarshal(rec.Status, &status) != nil || status == "") {
		return nil, fmt.Errorf("status: must be one of available, pending, sold, or be left out, got %.40s", rec.Status)
	}
	pet := &petstore.Pet{ID: id, NewPet: rules.NewPet(*rec.Name, *rec.CategoryID, status)}
	return pet, pet.Validate()
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
	m := rules.Message(id, *rec.Message, status, created)
	return &m, petstore.ValidateText(m.Text)
}

// checkTime rounds t as stores do, and returns an error if it cannot be written as JSON again.
func checkTime(t *time.Time) error {
	*t = t.UTC().Truncate(time.Microsecond)
	if t.Year() > 9999 || t.Year() < 0 {
		return errors.New("createdAt: must be from the year 0 to 9999")
	}
	return nil
}
