package petstore

import "context"

// Stats counts what a store holds.
type Stats struct {
	Pets           int64 `json:"pets"`           // pets
	QueuedMessages int64 `json:"queuedMessages"` // messages in the queue
}

// Statistics tells what a store holds. It is safe for concurrent use and costs
// the same however much that is.
type Statistics interface {
	Stats(ctx context.Context) (Stats, error)
}
