package memory

import (
	"context"
	"slices"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// SubmitMessage implements petstore.Messages.
func (s *Store) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if err := petstore.ValidateText("message", text); err != nil {
		return petstore.Message{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return petstore.Message{}, err
	}
	now := time.Now()
	if m, ok := s.submitted.find(key, now); ok {
		if m.Text != text {
			return petstore.Message{}, petstore.ErrIdempotencyMismatch
		}
		return m, nil
	}
	if len(s.queue) >= s.capacity {
		return petstore.Message{}, petstore.ErrQueueFull
	}
	s.lastMessage++
	m := petstore.Message{
		ID:        rules.MessageID(s.lastMessage),
		Text:      text,
		Status:    petstore.MessageQueued,
		CreatedAt: rules.MessageTime(now),
	}
	s.queue = append(s.queue, m)
	s.submitted.add(key, m, now)
	return m, nil
}

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) ([]petstore.Message, error) {
	if err := rules.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	n, size := 0, 0
	for n < min(limit, len(s.queue)) && size < petstore.MaxPageBytes {
		size += len(s.queue[n].Text)
		n++
	}
	return slices.Clone(s.queue[:n]), nil
}

// RemoveMessages implements petstore.Queue.
func (s *Store) RemoveMessages(ctx context.Context, ids ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.queue = slices.DeleteFunc(s.queue, func(m petstore.Message) bool {
		return slices.Contains(ids, m.ID)
	})
	return nil
}
