package petstore

import "context"

// Stats counts what a store holds.
type Stats struct {
	Pets           int64 `json:"pets"`
	QueuedMessages int64 `json:"queuedMessages"` // messages in the queue
}

// Statistics counts what a store holds. It is safe for concurrent use, and its
// cost does not depend on the counts.
type Statistics interface {
	Stats(ctx context.Context) (Stats, error)
}
