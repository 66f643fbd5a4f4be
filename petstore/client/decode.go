package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

func decodePet(body []byte) (p petstore.Pet, err error) {
	if err = decode(body, &p, "id", "name", "categoryId"); err == nil {
		err = p.Validate()
	}
	return p, err
}

func decodePets(body []byte) ([]petstore.Pet, error) {
	var list []jsontext.Value
	if err := unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, errors.New("body: must be an array, not null")
	}
	pets := make([]petstore.Pet, len(list))
	for i, v := range list {
		var err error
		if pets[i], err = decodePet(v); err != nil {
			return nil, fmt.Errorf("pet %d of the list: %w", i+1, err)
		}
	}
	return pets, nil
}

func decodeMessage(body []byte) (m petstore.Message, err error) {
	if err = decode(body, &m, "id", "message", "status", "createdAt"); err == nil {
		m.CreatedAt = petstore.MessageTime(m.CreatedAt)
	}
	return m, err
}

// decode decodes a JSON object into v. It must have the members with these names.
// Others are ignored.
func decode(body []byte, v any, required ...string) error {
	var members map[string]jsontext.Value
	if err := unmarshal(body, &members); err != nil {
		return err
	}
	for _, name := range required {
		if value := members[name]; value == nil || value.Kind() == 'n' {
			return fmt.Errorf("%s: is missing", name)
		}
	}
	return unmarshal(body, v)
}

// unmarshal decodes JSON. Its errors do not mention Go types.
func unmarshal(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("body: not valid JSON: %w", err)
	}
	where := strings.TrimPrefix(string(e.JSONPointer), "/")
	if where == "" {
		where = "body"
	}
	if e.Err != nil {
		return fmt.Errorf("%s: %w", where, e.Err)
	}
	return fmt.Errorf("%s: must not be a JSON value of the kind %v", where, e.JSONKind)
}
