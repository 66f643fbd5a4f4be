package client

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// wirePet is a pet in a response. A member that is missing or null is nil. Unknown
// members are ignored.
type wirePet struct {
	ID         *integer         `json:"id"`
	Name       *string          `json:"name"`
	CategoryID *integer         `json:"categoryId"`
	Status     *petstore.Status `json:"status"`
}

// pet returns p as a petstore.Pet. at is a JSON Pointer to p in the body, for
// errors.
func (p wirePet) pet(at string) (petstore.Pet, error) {
	switch {
	case p.ID == nil:
		return petstore.Pet{}, faultf(at+"/id", "is missing")
	case p.Name == nil:
		return petstore.Pet{}, faultf(at+"/name", "is missing")
	case p.CategoryID == nil:
		return petstore.Pet{}, faultf(at+"/categoryId", "is missing")
	}
	pet := petstore.Pet{ID: int64(*p.ID), NewPet: petstore.NewPet{Name: *p.Name, CategoryID: int64(*p.CategoryID)}}
	if p.Status != nil {
		if !p.Status.Valid() {
			return petstore.Pet{}, faultf(at+"/status", "must be one of available, pending, sold, got %q", *p.Status)
		}
		pet.Status = *p.Status
	}
	return pet, nil
}

func decodePet(body []byte) (petstore.Pet, error) {
	var p wirePet
	if err := unmarshal(body, &p); err != nil {
		return petstore.Pet{}, err
	}
	return p.pet("")
}

// decodePets decodes the response to q.
func decodePets(body []byte, q petstore.ListQuery) ([]petstore.Pet, error) {
	var list *[]wirePet
	if err := unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, faultf("body", "must be an array, not null")
	}
	if len(*list) > q.Limit {
		return nil, faultf("body", "must have at most %d pets, as the limit says, got %d", q.Limit, len(*list))
	}
	pets := make([]petstore.Pet, len(*list))
	for i, p := range *list {
		at := "/" + strconv.Itoa(i)
		pet, err := p.pet(at)
		if err != nil {
			return nil, err
		}
		if q.Status != "" && pet.Status != q.Status {
			return nil, faultf(at+"/status", "must be %s, as the query says, got %q", q.Status, pet.Status)
		}
		pets[i] = pet
	}
	return pets, nil
}

func decodeMessage(body []byte) (petstore.Message, error) {
	var w struct {
		ID        *string                 `json:"id"`
		Text      *string                 `json:"message"`
		Status    *petstore.MessageStatus `json:"status"`
		CreatedAt *timestamp              `json:"createdAt"`
	}
	if err := unmarshal(body, &w); err != nil {
		return petstore.Message{}, err
	}
	switch {
	case w.ID == nil:
		return petstore.Message{}, faultf("/id", "is missing")
	case w.Text == nil:
		return petstore.Message{}, faultf("/message", "is missing")
	case w.Status == nil:
		return petstore.Message{}, faultf("/status", "is missing")
	case w.CreatedAt == nil:
		return petstore.Message{}, faultf("/createdAt", "is missing")
	}
	return petstore.Message{ID: *w.ID, Text: *w.Text, Status: *w.Status, CreatedAt: petstore.MessageTime(time.Time(*w.CreatedAt))}, nil
}

// faultf returns an error about a part of a response. where is a JSON Pointer into
// the body (RFC 6901), or the name of the part.
func faultf(where, format string, args ...any) error {
	return fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...))
}

// unmarshal decodes a body. Its errors do not mention Go types.
func unmarshal(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("body: not valid JSON: %w", err)
	}
	where := string(e.JSONPointer)
	if where == "" {
		where = "body"
	}
	if e.Err != nil {
		return fmt.Errorf("%s: %w", where, e.Err)
	}
	return faultf(where, "must not be a JSON value of the kind %v", e.JSONKind)
}

// integer is an int64 in any form of a JSON number, such as 1.0 or 4e2.
type integer int64

// UnmarshalJSON sets n. It accepts only numbers that an int64 holds exactly.
func (n *integer) UnmarshalJSON(text []byte) error {
	i, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil {
		*n = integer(i)
		return nil
	}
	// Rat computes every digit, so a long exponent would take too much memory.
	_, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	if len(text) <= 1000 && len(exponent) <= 4 {
		if r, ok := new(big.Rat).SetString(string(text)); ok && r.IsInt() && r.Num().IsInt64() {
			*n = integer(r.Num().Int64())
			return nil
		}
	}
	return fmt.Errorf("must be an int64, got %.40s", text)
}

// timestamp is a time in any ISO 8601 format that the contract allows.
type timestamp time.Time

// UnmarshalJSON sets t. It accepts the extended and the basic format, with or
// without seconds and a fraction. It also accepts offsets from UTC.
func (t *timestamp) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("must be an ISO 8601 timestamp, got %.40s", text)
	}
	for _, date := range []string{"2006-01-02", "20060102"} {
		for _, clock := range []string{"T15:04:05", "T150405", "T15:04", "T1504"} {
			for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
				if parsed, err := time.Parse(date+clock+zone, strings.ToUpper(s)); err == nil {
					*t = timestamp(parsed)
					return nil
				}
			}
		}
	}
	return fmt.Errorf("must be an ISO 8601 timestamp in UTC, got %.40q", s)
}
