package petstore

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
)

// MessageQueued is the status of a message that was accepted and waits in the queue
// (contract, section 3.2). The contract shows no other.
const MessageQueued = "queued"

// Message is a submitted message (contract, section 2.7).
type Message struct {
	ID        string    `json:"id"`      // assigned on submission, never used again
	Text      string    `json:"message"` // as submitted, byte for byte
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"createdAt"` // when it was accepted: UTC, to the millisecond
}

// MarshalJSON implements json.Marshaler. CreatedAt always has three digits of a fraction
// and the zone Z, so times sort as text.
func (m Message) MarshalJSON() ([]byte, error) {
	type fields Message // without this method
	return json.Marshal(struct {
		fields
		CreatedAt string `json:"createdAt"`
	}{fields(m), m.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z")})
}

// Messages accepts messages. It is safe for concurrent use.
type Messages interface {
	// SubmitMessage puts text at the end of the queue and returns its record
	// (contract, section 4.4). If the store is on stable storage, the message
	// is there before SubmitMessage returns.
	//
	// Errors: those of [Service.CreatePet], and [CodeUnavailable] while the
	// queue is full.
	SubmitMessage(ctx context.Context, text string, key IdempotencyKey) (Message, error)
}

// MaxQueueLimit is the highest limit of [Queue.QueuedMessages].
const MaxQueueLimit = 1000

// Queue is for the worker that takes messages off the queue. The contract has
// no operation for it. It is safe for concurrent use.
type Queue interface {
	// QueuedMessages returns the oldest messages in the queue, oldest first,
	// at most limit of them (1 to [MaxQueueLimit]). It returns fewer once
	// their texts reach [MaxPageBytes].
	//
	// Errors: [CodeInvalid] for a limit out of range.
	QueuedMessages(ctx context.Context, limit int) ([]Message, error)

	// RemoveMessages removes messages from the queue: all of them, or on an
	// error none. It ignores IDs that are not of a queued message, so a
	// worker can repeat a removal whose result was lost.
	RemoveMessages(ctx context.Context, ids ...string) error
}
