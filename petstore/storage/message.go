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
	err := s.change(ctx, len(text), func(u *update) error {
		o, err := u.once(petstore.OnceSubmitMessage, once, []byte(text), func() (int64, error) {
			if u.Queued >= int64(s.QueueCapacity) {
				return 0, petstore.ErrQueueFull
			}
			n := u.LastMessage + 1
			return n, u.addMessage(n, u.now, text)
		})
		m = newMessage(o.n, o.made, text)
		return err
	})
	if err != nil {
		return petstore.Message{}, err
	}
	return m, nil
}

// addMessage adds the n-th message to the queue; n is higher than all earlier ones.
func (u *update) addMessage(n, made int64, text string) error {
	u.Queued++
	u.LastMessage = n
	u.queue.FillPercent = 1 // keys only grow, so leave no room between them
	body := append(appendInt64(make([]byte, 0, 8+len(text)+sumLen), made), text...)
	return u.queue.put(idKey(n), body)
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
		return petstore.Message{}, damaged("%s is not a message", queueTable.describe(key))
	}
	return newMessage(int64At(key), int64At(body), string(body[8:])), nil
}

// messages yields the messages in the queue, in order, with an error for each damaged
// record and one at the end if the count is wrong.
func (t *transaction) messages() iter.Seq2[petstore.Message, error] {
	return func(yield func(petstore.Message, error) bool) {
		count, last := int64(0), int64(0)
		c := t.queue.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			m, err := openMessage(k, v)
			if err == nil {
				if n := int64At(k); n > last {
					last = n
				} else {
					err = damaged("the message %d follows %d", n, last)
				}
			}
			if !yield(m, err) {
				return
			}
			count++
		}
		if count != t.Queued {
			yield(petstore.Message{}, damaged("the queue holds %d messages, want %d", count, t.Queued))
		}
	}
}

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) (messages []petstore.Message, err error) {
	if err := petstore.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	err = s.view(ctx, func(t *transaction) error {
		size := 0
		for m, err := range t.messages() {
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
			value, err := u.queue.find(key)
			if err == nil && value != nil {
				u.Queued--
				err = u.queue.Delete(key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
