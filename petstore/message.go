package petstore

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MessageStatus is how far a message has come (contract, section 3.2).
type MessageStatus string

// MessageQueued means that the message was accepted and waits in the queue.
// The contract shows no other status.
const MessageQueued MessageStatus = "queued"

// Message is a submitted message (contract, section 2.7).
type Message struct {
	ID     string        `json:"id"`      // assigned on submission, never used again
	Text   string        `json:"message"` // as submitted, byte for byte
	Status MessageStatus `json:"status"`

	// CreatedAt is when the message was accepted: UTC, to the millisecond.
	CreatedAt time.Time `json:"createdAt"`
}

// ValidateText reports, as an [*Error] with [CodeInvalid], why text cannot be
// submitted as a message; nil if it can. Any valid UTF-8 can.
func ValidateText(text string) error {
	if !utf8.ValidString(text) {
		return Errorf(CodeInvalid, "message: must be valid UTF-8")
	}
	return nil
}

// MessageTime returns t as stores keep it in [Message.CreatedAt].
func MessageTime(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond)
}

// messageIDPrefix tells a message's ID from a pet's at a glance.
const messageIDPrefix = "msg_"

// MessageID returns the ID of the n-th message that a store accepted. To a
// client an ID is opaque; a store may use any form, and ours use this one.
func MessageID(n int64) string {
	return messageIDPrefix + strconv.FormatInt(n, 10)
}

// ParseMessageID returns the n that [MessageID] made id of, and false for text
// that it never gave.
func ParseMessageID(id string) (n int64, ok bool) {
	digits, found := strings.CutPrefix(id, messageIDPrefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, found && err == nil && n > 0 && MessageID(n) == id
}

// DefaultQueueCapacity is how many messages our stores queue at the most,
// unless their options say otherwise.
const DefaultQueueCapacity = 100_000

// Messages accepts messages. It is safe for concurrent use.
type Messages interface {
	// SubmitMessage puts text at the end of the queue and returns its record
	// (contract, section 4.4). The message is on stable storage before
	// SubmitMessage returns, where the store has any.
	//
	// Errors: those of [Service.CreatePet], and [CodeUnavailable] while the
	// queue is full.
	SubmitMessage(ctx context.Context, text string, once Once) (Message, error)
}

// MaxQueueLimit is the most that [Queue.QueuedMessages] returns at once.
const MaxQueueLimit = 1000

// ValidateQueueLimit reports, as an [*Error] with [CodeInvalid], that limit is
// out of range for [Queue.QueuedMessages]; nil if it is not.
func ValidateQueueLimit(limit int) error {
	if limit < 1 || limit > MaxQueueLimit {
		return Errorf(CodeInvalid, "limit: must be an integer from 1 to %d", MaxQueueLimit)
	}
	return nil
}

// Queue is the side of the worker that takes messages off the queue. The
// contract has no operation for it. It is safe for concurrent use.
type Queue interface {
	// QueuedMessages returns the oldest messages in the queue, oldest first,
	// limit of them at the most (1 to [MaxQueueLimit]). Fewer come
	// once their texts reach [MaxPageBytes].
	//
	// Errors: [CodeInvalid] for a limit out of range.
	QueuedMessages(ctx context.Context, limit int) ([]Message, error)

	// RemoveMessages takes messages off the queue: all of them, or on an
	// error none. IDs of no queued message are passed over, so that a worker
	// can repeat a removal whose answer it lost.
	RemoveMessages(ctx context.Context, ids ...string) error
}
