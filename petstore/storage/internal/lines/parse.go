package lines

import (
	"errors"
	"fmt"
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

// parse reads a record. Its members may be in any order. A member of no kind of record is an
// error, and one of another kind is ignored.
func parse(line []byte) (Record, error) {
	var rec anyRecord
	err := json.Unmarshal(line, &rec, json.RejectUnknownMembers(true))
	if err == nil && jsontext.Value(line).Kind() != '{' {
		err = errors.New("it is null")
	}
	if err != nil {
		return Record{}, fmt.Errorf("must be one JSON object on each line: %w", err)
	}
	switch {
	case rec.Outcome != nil:
		return Record{Outcome: rec.Outcome}, checkTime(&rec.Outcome.Created)
	case rec.End != nil:
		return Record{End: rec.End}, nil
	case rec.Message != nil && rec.Created != nil:
		m, err := rec.message()
		return Record{Message: m}, err
	case rec.Name != nil:
		if rec.ID == nil {
			rec.ID = jsontext.Value("0") // which the reader refuses, with advice
		}
		p, err := rec.Pet()
		if err == nil {
			err = p.Validate()
		}
		return Record{Pet: &p}, err
	}
	return Record{}, errors.New("must be a pet with a name and a categoryId, a message with a createdAt, an outcome, or the end")
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
