package petstore

import (
	"context"
	"unicode/utf8"
)

// Status is a pet's availability (contract, section 2.4). The zero value
// means that no status was given; it stays absent on the wire, since the
// contract states no default.
type Status string

// The statuses of the contract. There are no others.
const (
	StatusAvailable Status = "available"
	StatusPending   Status = "pending"
	StatusSold      Status = "sold"
)

// Statuses returns every status of the contract, in its order.
func Statuses() []Status {
	return []Status{StatusAvailable, StatusPending, StatusSold}
}

// Valid reports whether s is one of the contract's statuses. The zero Status
// is not: where a status may be absent, the caller asks for that first.
func (s Status) Valid() bool {
	switch s {
	case StatusAvailable, StatusPending, StatusSold:
		return true
	}
	return false
}

// NewPet is a pet about to be added (contract, section 2.1).
type NewPet struct {
	// Name may be any valid UTF-8, the empty string too. It is kept byte for
	// byte: not trimmed, folded or normalised.
	Name string `json:"name"`

	// CategoryID may be any int64, kept exactly. The contract describes no
	// categories, so nothing is looked up.
	CategoryID int64 `json:"categoryId"`

	// Status is the pet's availability, or zero for none.
	Status Status `json:"status,omitzero"`
}

// Validate reports what keeps p from being stored, as an [*Error] with
// [CodeInvalid] whose message names the member at fault; nil if nothing does.
func (p NewPet) Validate() error {
	if !utf8.ValidString(p.Name) {
		return Errorf(CodeInvalid, "name: must be valid UTF-8")
	}
	if p.Status != "" && !p.Status.Valid() {
		return Errorf(CodeInvalid, "status: must be one of available, pending, sold")
	}
	return nil
}

// Pet is a pet as the store keeps it (contract, section 2.2).
type Pet struct {
	// ID is assigned on creation: positive, unique, never used again, and
	// higher than every ID committed before it.
	ID int64 `json:"id"`

	NewPet
}

// The contract's range for the number of pets in a list (section 8).
const (
	MinLimit     = 1
	MaxLimit     = 100
	DefaultLimit = 20
)

// MaxPageBytes bounds a [Page]: a page ends early, with a cursor to go on from,
// once the JSON of its pets has reached this many bytes. So a page always holds
// at least one pet if there is one, and never more than MaxPageBytes and one
// pet.
const MaxPageBytes = 1 << 20

// ListQuery selects pets for [Service.ListPets]. The zero value selects
// the first [DefaultLimit] of all pets.
type ListQuery struct {
	Limit  int    // most pets to return, 1 to 100; 0: 20
	Status Status // only pets of this status; "": all of them
	After  Cursor // go on after this place; "": from the start
}

// Normalize returns q with its defaults filled in, or an [*Error] with
// [CodeInvalid] that names the field out of range. The cursor is left to the
// store that gave it out.
func (q ListQuery) Normalize() (ListQuery, error) {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.Limit < MinLimit || q.Limit > MaxLimit {
		return q, Errorf(CodeInvalid, "limit: must be an integer from %d to %d", MinLimit, MaxLimit)
	}
	if q.Status != "" && !q.Status.Valid() {
		return q, Errorf(CodeInvalid, "status: must be one of available, pending, sold")
	}
	return q, nil
}

// Page is a part of a list of pets.
type Page struct {
	Pets []Pet  // ascending by ID
	Next Cursor // where the next page starts; "": this is the last one
}

// Once makes a creation safe to repeat: while its outcome is remembered, at
// least [OnceKept], a creation with the same Scope and Key and an equal value
// gives the first one's result and creates nothing. The zero value asks for
// no such thing.
//
// Creations of pets and of messages are kept apart: one Once can serve
// both. Only successes are remembered.
type Once struct {
	Scope string // whose key it is, such as the caller's account
	Key   string // the caller's own name for this creation; "": not idempotent
}

// IsZero reports whether o asks for nothing to be remembered.
func (o Once) IsZero() bool { return o.Key == "" }

// Service keeps pets. Its methods are safe for concurrent use and return
// once ctx is done, with an error that wraps ctx's; a creation that was
// already being written then may still be waited for, so that its outcome is
// known.
//
// Errors without a code named at a method ([CodeInternal], [CodeUnavailable])
// may come from any of them.
type Service interface {
	// ListPets returns pets in ascending order of ID (contract, section
	// 4.1). The order of commit is the order of IDs, so going on from a
	// page's cursor neither skips nor repeats a pet, whatever is added
	// meanwhile.
	//
	// Errors: [CodeInvalid] for a limit or status out of range and for a
	// cursor that the service did not give out.
	ListPets(ctx context.Context, q ListQuery) (Page, error)

	// CreatePet stores p and returns it with its ID (contract, section 4.2).
	// It is on stable storage before CreatePet returns, where the store has
	// any.
	//
	// Errors: [CodeInvalid] if p does not validate; [CodeMismatch] if once
	// was used with another value; [CodeConflict] if an earlier creation with
	// the same once is under way and its outcome cannot be learnt in time;
	// [CodeFull] if there is no room.
	CreatePet(ctx context.Context, p NewPet, once Once) (Pet, error)

	// GetPet returns the pet with that ID (contract, section 4.3).
	//
	// Errors: [CodeNotFound] if there is none.
	GetPet(ctx context.Context, id int64) (Pet, error)
}

// EncodedReader reads pets in their wire form. It is the fast path of a
// handler: a store that keeps pets as JSON need not decode them for the
// handler to encode them again.
//
// Both methods append to dst exactly the bytes that encoding the result of
// the corresponding method of [Service] gives ([Pet.AppendJSON], and a JSON
// array of those), return the same errors, and on an error return dst as it
// was. They are safe for concurrent use.
type EncodedReader interface {
	AppendPet(ctx context.Context, dst []byte, id int64) ([]byte, error)
	AppendPage(ctx context.Context, dst []byte, q ListQuery) ([]byte, Cursor, error)
}
