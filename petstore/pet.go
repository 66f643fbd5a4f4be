package petstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Status is a pet's availability (contract, section 2.4). The zero value means
// that the pet has none, and is absent in JSON: the contract has no default.
type Status string

// The statuses of the contract. There are no others.
const (
	StatusAvailable Status = "available"
	StatusPending   Status = "pending"
	StatusSold      Status = "sold"
)

// Statuses returns them, in the order of the contract.
func Statuses() []Status {
	return []Status{StatusAvailable, StatusPending, StatusSold}
}

// validate returns an error unless s is one of the contract's statuses or none.
func (s Status) validate() error {
	if s != "" && !slices.Contains(Statuses(), s) {
		return Errorf(CodeInvalid, "status: must be one of available, pending, sold")
	}
	return nil
}

// NewPet is a pet before it is stored (contract, section 2.1).
type NewPet struct {
	// Name may be any valid UTF-8 of at most [MaxTextBytes], the empty string included.
	// It is kept byte for byte: not trimmed, folded or normalized.
	Name string `json:"name"`

	// CategoryID may be any int64, kept exactly. The contract describes no
	// categories, so nothing is looked up.
	CategoryID int64 `json:"categoryId"`

	Status Status `json:"status,omitzero"` // "": none
}

// MaxTextBytes is how many bytes the name of a pet and the text of a message may have.
const MaxTextBytes = 64 << 10

// ValidateText returns an [*Error] with [CodeInvalid] unless text, the value of the member with
// that name, is valid UTF-8 of at most [MaxTextBytes]. Any such text can be stored.
func ValidateText(name, text string) error {
	if len(text) > MaxTextBytes {
		return Errorf(CodeInvalid, "%s: must have at most %d bytes, got %d", name, MaxTextBytes, len(text))
	}
	if !utf8.ValidString(text) {
		return Errorf(CodeInvalid, "%s: must be valid UTF-8", name)
	}
	return nil
}

// Validate returns an [*Error] with [CodeInvalid], whose message names the
// member at fault, if p cannot be stored.
func (p NewPet) Validate() error {
	if err := ValidateText("name", p.Name); err != nil {
		return err
	}
	return p.Status.validate()
}

// Pet is a stored pet (contract, section 2.2).
type Pet struct {
	// ID is assigned on creation: positive, unique, never used again, and
	// higher than every ID committed before it.
	ID int64 `json:"id"`

	NewPet
}

// AppendJSON appends the JSON of p to dst: one object without white space, with
// the members id, name, categoryId and, if p has one, status, in this order.
// json.Marshal returns the same, and every response has p in this form.
//
// If the name is not valid UTF-8, or the status is not one of the contract's, AppendJSON
// returns dst as it was, and an error without a [Code].
func (p Pet) AppendJSON(dst []byte) ([]byte, error) {
	b := slices.Grow(dst, 80+len(p.Name)) // most names need no escaping
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, p.ID, 10)
	b = append(b, `,"name":`...)
	b, err := jsontext.AppendQuote(b, p.Name)
	if err != nil {
		return dst, err // it fails for invalid UTF-8 only
	}
	b = append(b, `,"categoryId":`...)
	b = strconv.AppendInt(b, p.CategoryID, 10)
	if err := p.Status.validate(); err != nil {
		return dst, errors.New(err.Error())
	}
	if p.Status != "" {
		b = append(append(append(b, `,"status":"`...), p.Status...), '"') // needs no escaping
	}
	return append(b, '}'), nil
}

// How many pets a list may have, and has by default (contract, section 4.1).
const (
	MaxLimit     = 100
	DefaultLimit = 20
)

// MaxPageBytes limits a [Page]: the pet with which [Pet.AppendJSON] has appended this many bytes
// is its last. So it holds at most MaxPageBytes and one pet.
const MaxPageBytes = 128 << 10

// ListQuery selects pets for [Service.ListPets]. The zero value selects
// the first [DefaultLimit] of all pets.
type ListQuery struct {
	Limit  int    // how many pets to return at most, 1 to 100; 0: 20
	Status Status // only pets of this status; "": all pets
	After  Cursor // only pets after this place; "": from the start
}

// Normalize returns q with the default limit filled in, or an [*Error] with
// [CodeInvalid] that names the field out of range. It does not check the cursor,
// whose form only the store knows.
func (q ListQuery) Normalize() (ListQuery, error) {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		return q, Errorf(CodeInvalid, "limit: must be an integer from 1 to %d", MaxLimit)
	}
	return q, q.Status.validate()
}

// Page is a part of a list of pets.
type Page struct {
	Pets []Pet  // ascending by ID
	Next Cursor // where the next page starts; "": this page is the last
}

// IdempotencyWindow is how long a store remembers the result of a create with an
// [IdempotencyKey], at least.
const IdempotencyWindow = 24 * time.Hour

// IdempotencyKey makes a create safe to repeat. For at least [IdempotencyWindow], a create
// with the same Scope and Key and an equal value returns the first one's result and
// creates nothing. Without a Key it asks for none of this.
//
// Pets and messages are separate: the same key can create one of each. Only
// successes are remembered.
type IdempotencyKey struct {
	Scope string // the owner of the key; over HTTP the account, but "" without a Key
	Key   string // the caller's name for this create; "": not idempotent
}

// Service keeps pets. Its methods are safe for concurrent use. If ctx is done, they
// return an error that wraps ctx's. But a create that is already waiting to be written
// may return its result instead, after ctx is done.
//
// Any method may return an error with [CodeInternal] or [CodeUnavailable].
type Service interface {
	// ListPets returns pets in ascending order of ID (contract, section
	// 4.1). IDs are in the order of commit, so to continue from a page's
	// cursor neither skips nor repeats a pet, even while pets are added.
	// A page ends early, with a cursor, at [MaxPageBytes].
	//
	// Errors: [CodeInvalid] for a limit or status out of range and for a
	// cursor that the service did not return.
	ListPets(ctx context.Context, q ListQuery) (Page, error)

	// CreatePet stores p and returns it with its ID (contract, section 4.2).
	// If the store is on stable storage, the pet is there before CreatePet
	// returns.
	//
	// Errors: [CodeInvalid] if p is not valid; [CodeIdempotencyMismatch] if
	// key was used with another value; [CodeConflict] if an earlier create
	// with the same key is under way (the stores of this module wait for it);
	// [CodeInsufficientStorage] if there is no room.
	CreatePet(ctx context.Context, p NewPet, key IdempotencyKey) (Pet, error)

	// GetPet returns the pet with that ID (contract, section 4.3).
	//
	// Errors: [CodeNotFound] if there is none.
	GetPet(ctx context.Context, id int64) (Pet, error)
}

// Stats counts what a store holds.
type Stats struct {
	Pets           int64
	QueuedMessages int64 // messages in the queue
}

// Statistics counts what a store holds, for metrics and tests. It is safe for concurrent
// use, and its cost does not depend on the counts.
type Statistics interface {
	Stats(ctx context.Context) (Stats, error)
}
