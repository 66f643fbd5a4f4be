package storage

import (
	"context"
	"iter"
	"time"

	"example.com/animalstore/petstore"
)

// SubmitMessage implements petstore.Messages.
func (s *Store) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	if err := petstore.ValidateText(text); err != nil {
		return petstore.Message{}, err
	}
	var m petstore.Message
	err := s.change(ctx, len(text), func(u *update) (err error) {
		m, err = u.submitMessage(text, once, s.capacity)
		return err
	})
	if err != nil {
		return petstore.Message{}, err
	}
	return m, nil
}

func (u *update) submitMessage(text string, once petstore.Once, capacity int64) (petstore.Message, error) {
	earlier, err := u.recall(petstore.OnceSubmitMessage, once, []byte(text))
	if err != nil {
		return petstore.Message{}, err
	}
	if earlier != nil {
		return newMessage(earlier.n, earlier.made, text), nil
	}
	if u.Queued >= capacity {
		return petstore.Message{}, petstore.ErrQueueFull
	}
	n := u.LastMessage + 1
	if err := u.remember(petstore.OnceSubmitMessage, once, []byte(text), n); err != nil {
		return petstore.Message{}, err
	}
	return newMessage(n, u.now, text), u.addMessage(n, u.now, text)
}

// addMessage adds the n-th message to the queue; n is higher than all earlier ones.
func (u *update) addMessage(n, made int64, text string) error {
	u.Queued++
	u.LastMessage = n
	key := idKey(n)
	body := append(appendInt64(make([]byte, 0, 8+len(text)+sumLen), made), text...)
	u.buckets.queue.FillPercent = 1 // keys only grow, so leave no room between them
	return u.put(u.buckets.queue, key[:], queueTable.seal(key[:], body))
}

// newMessage returns the n-th message.
func newMessage(n, made int64, text string) petstore.Message {
	return petstore.Message{
		ID:        petstore.MessageID(n),
		Text:      text,
		Status:    petstore.MessageQueued,
		CreatedAt: petstore.MessageTime(time.Unix(0, made)),
	}
}

// openMessage opens a record of the queue. Its key is the number of the message.
func openMessage(key, value []byte) (petstore.Message, error) {
	body, err := queueTable.open(key, value)
	if err != nil {
		return petstore.Message{}, err
	}
	if len(key) != 8 || len(body) < 8 {
		return petstore.Message{}, damaged("%s is not a message", queueTable.record(key))
	}
	return newMessage(int64At(key), int64At(body), string(body[8:])), nil
}

// messages yields the messages in the queue, in order, and ends after the first
// error.
func (r *reader) messages() iter.Seq2[petstore.Message, error] {
	return func(yield func(petstore.Message, error) bool) {
		count := int64(0)
		c := r.buckets.queue.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			m, err := openMessage(k, v)
			if !yield(m, err) || err != nil {
				return
			}
			count++
		}
		if count != r.state.Queued {
			yield(petstore.Message{}, damaged("the queue holds %d messages, want %d", count, r.state.Queued))
		}
	}
}

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) (messages []petstore.Message, err error) {
	if err := petstore.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	err = s.view(ctx, func(r *reader) error {
		size := 0
		for m, err := range r.messages() {
			if err != nil {
				return err
			}
			messages = append(messages, m)
			if size += len(m.Text); len(messages) == limit || size >= petstore.MaxPageBytes {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// RemoveMessages implements petstore.Queue.
func (s *Store) RemoveMessages(ctx context.Context, ids ...string) error {
	return s.change(ctx, 32*len(ids), func(u *update) error {
		for _, id := range ids {
			n, ok := petstore.ParseMessageID(id)
			if !ok {
				continue
			}
			key := idKey(n)
			found, err := u.delete(u.buckets.queue, key[:])
			if err != nil {
				return err
			}
			if found {
				u.Queued--
			}
		}
		return nil
	})
}
