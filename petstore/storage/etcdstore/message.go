package etcdstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"example.com/animalstore/petstore"
)

// SubmitMessage implements petstore.Messages.
func (s *Store) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	w, err := newMessageWrite(text)
	if err != nil {
		return petstore.Message{}, err
	}
	var m petstore.Message
	w.remember(petstore.OnceSubmitMessage, once)
	w.apply = func(u *update) (err error) {
		m, err = u.submitMessage(text, w, int64(s.config.QueueCapacity))
		return err
	}
	if err := s.change(ctx, w); err != nil {
		return petstore.Message{}, err
	}
	return m, nil
}

// newMessageWrite returns a write with room for a message.
func newMessageWrite(text string) (*write, error) {
	if err := petstore.ValidateText(text); err != nil {
		return nil, err
	}
	if len(text) > MaxTextBytes {
		return nil, petstore.Errorf(petstore.CodeInvalid, "message: must have at most %d bytes", MaxTextBytes)
	}
	return &write{ops: 2, size: len(text) + recordOverhead}, nil
}

func (u *update) submitMessage(text string, w *write, capacity int64) (petstore.Message, error) {
	digest := sha256.Sum256([]byte(text))
	o, err := u.recall(w)
	if err != nil {
		return petstore.Message{}, err
	}
	if o != nil {
		if !bytes.Equal(o.text, digest[:]) {
			return petstore.Message{}, petstore.ErrMismatch
		}
		return newMessage(o.n, o.made, text), nil
	}
	if u.queued >= capacity {
		return petstore.Message{}, petstore.ErrQueueFull
	}
	n := u.lastMessage + 1
	if n > maxID {
		return petstore.Message{}, petstore.Errorf(petstore.CodeFull, "there are no more ids")
	}
	u.addMessage(n, u.now, text)
	u.note(w, &outcome{n: n, made: u.now, text: digest[:]})
	return newMessage(n, u.now, text), nil
}

// addMessage adds the n-th message to the queue.
func (u *update) addMessage(n, made int64, text string) {
	u.lastMessage = n
	u.queued++
	u.put(numbered(messageKey, n), appendInt64(appendInt64(nil, made), int64(len(text))))
	u.put(numbered(textKey, n), []byte(text))
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

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) ([]petstore.Message, error) {
	return s.MessagesAfter(ctx, 0, limit)
}

// MessagesAfter is QueuedMessages for the messages after the one with that
// number, which need not be in the queue. Unlike QueuedMessages, it does not
// notice that the record of a message is missing.
func (s *Store) MessagesAfter(ctx context.Context, after int64, limit int) ([]petstore.Message, error) {
	if err := petstore.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	// Until it is compacted, etcd also looks at the keys of removed messages.
	from := max(min(after, maxID), s.newest.Load().removed) + 1
	v, err := s.read(ctx, clientv3.OpGet(stateKey),
		clientv3.OpGet(numbered(messageKey, from), clientv3.WithRange(numbered(messageKey, maxID+1)), clientv3.WithLimit(int64(limit))))
	if err != nil {
		return nil, err
	}
	st, err := s.stateOf(v)
	if err != nil {
		return nil, err
	}
	delete(v, stateKey)
	if n := int64(len(v)); after == 0 && n != min(st.queued, int64(limit)) {
		return nil, damaged("the queue holds %d messages, want %d", n, st.queued)
	}
	var messages []petstore.Message
	var numbers []int64
	size := int64(0)
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if size >= petstore.MaxPageBytes {
			break
		}
		b, err := v.open(key)
		if err != nil {
			return nil, err
		}
		if len(key) != 1+8 || len(b) != 16 {
			return nil, damaged("the record %q is not a message", key)
		}
		n := int64At([]byte(key[1:]))
		messages = append(messages, newMessage(n, int64At(b), ""))
		numbers = append(numbers, n)
		size += int64At(b[8:])
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	texts, err := s.read(ctx, clientv3.OpGet(stateKey),
		clientv3.OpGet(numbered(textKey, numbers[0]), clientv3.WithRange(numbered(textKey, numbers[len(numbers)-1]+1))))
	if err != nil {
		return nil, err
	}
	now, err := s.stateOf(texts)
	if err != nil {
		return nil, err
	}
	for i, n := range numbers {
		key := numbered(textKey, n)
		if texts[key] == nil && now.rev != st.rev { // it was removed meanwhile
			return s.MessagesAfter(ctx, after, limit)
		}
		text, err := texts.open(key)
		if err != nil {
			return nil, err
		}
		messages[i].Text = string(text)
	}
	return messages, nil
}

// maxRemoved is how many messages one call of RemoveMessages can remove, which
// happens in one transaction.
const maxRemoved = 1500

// RemoveMessages implements petstore.Queue. It accepts at most 1500 different
// message ids, and refuses more with petstore.CodeInvalid.
func (s *Store) RemoveMessages(ctx context.Context, ids ...string) error {
	var numbers []int64
	for _, id := range ids {
		if n, ok := petstore.ParseMessageID(id); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) > maxRemoved {
		return petstore.Errorf(petstore.CodeInvalid, "ids: must be at most %d, got %d", maxRemoved, len(numbers))
	}
	w := &write{alone: true, size: recordOverhead * len(numbers)}
	for _, n := range numbers {
		w.needs = append(w.needs, numbered(messageKey, n))
	}
	w.apply = func(u *update) error {
		for i, n := range numbers {
			if u.known[w.needs[i]] == nil {
				continue
			}
			u.delete(w.needs[i])
			u.delete(numbered(textKey, n))
			u.queued--
			if n == u.removed+1 {
				u.removed = n
			}
		}
		if u.queued == 0 {
			u.removed = u.lastMessage
		}
		if u.queued < 0 {
			u.changed = false
			return damaged("the queue has more messages than are counted")
		}
		return nil
	}
	return s.change(ctx, w)
}
