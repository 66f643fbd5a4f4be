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

// maxRemoved is how many messages one call of RemoveMessages can remove, which
// happens in one transaction.
const maxRemoved = 1500

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
	u.queued++
	u.lastMessage++
	u.putMessage(u.lastMessage, u.now, text)
	u.note(w, &outcome{n: u.lastMessage, made: u.now, text: digest[:]})
	return newMessage(u.lastMessage, u.now, text), nil
}

// putMessage writes the records of a message.
func (u *update) putMessage(n, made int64, text string) {
	key := numbered(messageKey, n)
	b := appendInt64(make([]byte, 0, 16+min(len(text), maxInline)), made)
	if len(text) <= maxInline {
		u.put(key, seal(key, append(append(b, 0), text...)))
		return
	}
	u.put(key, seal(key, appendInt64(append(b, longBit), int64(len(text)))))
	key = numbered(textKey, n)
	u.put(key, seal(key, []byte(text)))
}

// newMessage returns the record of the n-th message.
func newMessage(n, made int64, text string) petstore.Message {
	return petstore.Message{
		ID:        petstore.MessageID(n),
		Text:      text,
		Status:    petstore.MessageQueued,
		CreatedAt: petstore.MessageTime(time.Unix(0, made)),
	}
}

// The queue may have long gaps, where messages were removed from its middle. One
// read returns at most queueStep messages, from a range of that many numbers. If
// the range is a gap, the next one is twice as long, up to queueLook.
const (
	queueStep = 256
	queueLook = 1 << 20
)

// QueuedMessages implements petstore.Queue.
func (s *Store) QueuedMessages(ctx context.Context, limit int) ([]petstore.Message, error) {
	return s.messages(ctx, 0, limit)
}

// MessagesAfter is QueuedMessages for the messages after the one with that id,
// which need not be in the queue. "": all messages. It returns an error with
// petstore.CodeInvalid if id is not a message id.
func (s *Store) MessagesAfter(ctx context.Context, id string, limit int) ([]petstore.Message, error) {
	after, ok := petstore.ParseMessageID(id)
	if !ok && id != "" {
		return nil, petstore.Errorf(petstore.CodeInvalid, "invalid message id %q", id)
	}
	return s.messages(ctx, after, limit)
}

// messages returns messages with a number above after.
func (s *Store) messages(ctx context.Context, after int64, limit int) ([]petstore.Message, error) {
	if err := petstore.ValidateQueueLimit(limit); err != nil {
		return nil, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	st, err := s.state(ctx)
	if err != nil {
		return nil, err
	}
	var messages []petstore.Message
	size, look := 0, int64(queueStep)
	for from := max(st.firstQueued, s.firstQueued.Load(), after+1); from <= st.lastMessage && len(messages) < limit; {
		to := min(from+look, st.lastMessage+1)
		got, err := s.read(ctx, nil, s.rangeOp(numbered(messageKey, from), numbered(messageKey, to), clientv3.WithLimit(queueStep)))
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			m, n, err := s.openMessage(ctx, key, got[key].Value)
			if err != nil {
				return nil, err
			}
			if len(messages) == limit || size >= petstore.MaxPageBytes {
				return messages, nil
			}
			from = n + 1
			if m != nil {
				size += len(m.Text)
				messages = append(messages, *m)
			}
		}
		if len(got) == queueStep {
			continue
		}
		from = to
		if len(messages) == 0 && after == 0 && !s.config.Serializable { // a member that lags has no new messages
			s.sawQueue(to)
		}
		look = min(2*look, queueLook)
	}
	if len(messages) == limit || after > 0 {
		return messages, nil
	}
	if err := s.allQueued(ctx, st, len(messages)); err != nil {
		return nil, err
	}
	return messages, nil
}

// allQueued returns an error if st counts another number of messages than n and
// is still the current state.
func (s *Store) allQueued(ctx context.Context, st *state, n int) error {
	now, err := s.state(ctx)
	if err == nil && now.rev == st.rev && int64(n) != st.queued {
		err = damaged("the queue holds %d messages, want %d", n, st.queued)
	}
	return err
}

// sawQueue records that no message before n is in the queue any more.
func (s *Store) sawQueue(n int64) {
	for old := s.firstQueued.Load(); old < n && !s.firstQueued.CompareAndSwap(old, n); {
		old = s.firstQueued.Load()
	}
}

// openMessage returns the message of a record, and its number. The message is
// nil if it was removed from the queue before its text was read.
func (s *Store) openMessage(ctx context.Context, key string, value []byte) (*petstore.Message, int64, error) {
	b, err := open(key, value)
	if err != nil {
		return nil, 0, err
	}
	if len(key) != 1+8 || len(b) < 9 || b[8] == longBit && len(b) != 9+8 {
		return nil, 0, damaged("the record %q is not a message", key)
	}
	n, text := int64At([]byte(key[1:])), b[9:]
	if b[8] == longBit {
		key := numbered(textKey, n)
		got, err := s.read(ctx, []string{key})
		if err != nil || got[key] == nil {
			return nil, n, err
		}
		if text, err = got.open(key); err != nil {
			return nil, 0, err
		}
		if int64(len(text)) != int64At(b[9:]) {
			return nil, 0, damaged("the text %q has %d bytes, want %d", key, len(text), int64At(b[9:]))
		}
	}
	m := newMessage(n, int64At(b), string(text))
	return &m, n, nil
}

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
		u.firstQueued = max(u.firstQueued, s.firstQueued.Load())
		for _, n := range numbers {
			key := numbered(messageKey, n)
			if u.known[key] == nil {
				continue
			}
			u.delete(key)
			u.delete(numbered(textKey, n))
			u.queued--
			if n == u.firstQueued {
				u.firstQueued++
			}
		}
		if u.queued < 0 {
			return damaged("the queue has more messages than are counted")
		}
		return nil
	}
	return s.change(ctx, w)
}
