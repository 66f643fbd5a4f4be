package lines

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore/internal/petjson"
)

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
