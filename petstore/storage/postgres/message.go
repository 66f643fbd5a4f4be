package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// SubmitMessage implements petstore.Messages.
func (s *Store) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if err := petstore.ValidateText("message", text); err != nil {
		return petstore.Message{}, err
	}
	c := &change{message: &text}
	if key.Key != "" {
		c.remember(rules.Digest(rules.SubmitMessage, key), []byte(text))
	}
	if err := s.update(ctx, c); err != nil {
		return petstore.Message{}, err
	}
	return newMessage(c.number, c.made, text), nil
}

func newMessage(number int64, made time.Time, text string) petstore.Message {
	return petstore.Message{
		ID:        rules.MessageID(number),
		Text:      text,
		Status:    petstore.MessageQueued,
		CreatedAt: rules.MessageTime(made),
	}
}

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) (messages []petstore.Message, err error) {
	if err := rules.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	err = s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		messages = nil
		size := 0
		rows, _ := conn.Query(ctx, selectMessages+" LIMIT $1", limit) // ForEachRow returns the error
		return forEachMessage(rows, func(m petstore.Message) error {
			if size < petstore.MaxPageBytes {
				messages = append(messages, m)
			}
			size += len(m.Text)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

const selectMessages = "SELECT number, made, text FROM petstore.messages ORDER BY number"

// forEachMessage calls do with the message of each row of selectMessages.
func forEachMessage(rows pgx.Rows, do func(petstore.Message) error) error {
	var number int64
	var made time.Time
	var stored []byte
	_, err := pgx.ForEachRow(rows, []any{&number, &made, &stored}, func() error {
		return do(newMessage(number, made, string(stored)))
	})
	return err
}

// RemoveMessages implements petstore.Queue.
func (s *Store) RemoveMessages(ctx context.Context, ids ...string) error {
	c := &change{}
	for _, id := range ids {
		if n, ok := rules.ParseMessageID(id); ok {
			c.remove = append(c.remove, n)
		}
	}
	return s.update(ctx, c)
}
