package storage

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
	"example.com/animalstore/petstore/storage/internal/lines"
)

// SubmitMessage implements petstore.Messages.
func (s *Store) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if err := petstore.ValidateText("message", text); err != nil {
		return petstore.Message{}, err
	}
	var m petstore.Message
	err := s.update(ctx, func(tx *writeTx) error {
		o, err := tx.once(rules.SubmitMessage, key, []byte(text), func(o *lines.Outcome) error {
			if tx.Queued >= int64(s.opts.QueueCapacity) {
				return petstore.ErrQueueFull
			}
			if tx.LastMessage == math.MaxInt64 {
				return rules.ErrNoIDs
			}
			o.Message = tx.LastMessage + 1
			return tx.addMessage(o.Message, tx.now, text)
		})
		m = newMessage(o.Message, o.Created, text)
		return err
	})
	if err != nil {
		return petstore.Message{}, err
	}
	return m, nil
}

// addMessage adds the n-th message to the queue; n is higher than all earlier ones. It was
// made at a time in microseconds since 1970.
func (tx *writeTx) addMessage(n, made int64, text string) error {
	tx.Queued++
	tx.LastMessage = n
	queue := tableIn(tx.Tx, &queueTable)
	queue.FillPercent = 1 // keys only grow, so leave no room between them
	body := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(text)+sumLen), uint64(made))
	return queue.put(idKey(n), append(body, text...))
}

// newMessage returns the n-th message.
func newMessage(n, made int64, text string) petstore.Message {
	return petstore.Message{
		ID:        rules.MessageID(n),
		Text:      text,
		Status:    petstore.MessageQueued,
		CreatedAt: rules.MessageTime(time.UnixMicro(made)),
	}
}

// messageOf returns the message of a record of the queue. The key is its number.
func messageOf(key, body []byte) petstore.Message {
	return newMessage(int64At(key), int64At(body), string(body[8:]))
}

// checkQueued returns an error if the state counts more or fewer messages than were found.
func (s *state) checkQueued(found int64) error {
	if found != s.Queued {
		return damaged("the queue holds %d messages, want %d", found, s.Queued)
	}
	return nil
}

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) (messages []petstore.Message, err error) {
	if err := rules.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	err = s.view(ctx, func(snap *snapshot) error {
		size := 0
		for rec, err := range tableIn(snap.Tx, &queueTable).after(nil) {
			if err != nil {
				return err
			}
			m := messageOf(rec.key, rec.value)
			messages = append(messages, m)
			if size += len(m.Text); len(messages) == limit || size >= petstore.MaxPageBytes {
				return nil
			}
		}
		return snap.checkQueued(int64(len(messages))) // these are all
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// RemoveMessages implements petstore.Queue.
func (s *Store) RemoveMessages(ctx context.Context, ids ...string) error {
	return s.update(ctx, func(tx *writeTx) error {
		queue := tableIn(tx.Tx, &queueTable)
		for _, id := range ids {
			n, ok := rules.ParseMessageID(id)
			if !ok {
				continue
			}
			key := idKey(n)
			body, err := queue.find(key)
			if err == nil && body != nil {
				tx.Queued--
				err = queue.Delete(key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
