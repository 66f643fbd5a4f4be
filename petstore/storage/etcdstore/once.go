package etcdstore

import (
	"crypto/sha256"

	"example.com/animalstore/petstore"
)

// outcome is the result of a creation with a Once, with what is needed to see
// whether a repetition is the same. A repeated pet is compared with the stored
// one, which never changes. A message may no longer be in the queue, so the
// outcome has a digest of its text.
type outcome struct {
	made int64 // nanoseconds since 1970
	n    int64 // the pet's ID, the message's number
	text [sha256.Size]byte
	pet  *petstore.Pet // if created in this transaction; not part of the record
}

const outcomeLen = 8 + 8 + sha256.Size

func (o *outcome) seal(key string) string {
	b := make([]byte, 0, outcomeLen+sumLen)
	b = appendInt64(b, o.made)
	b = appendInt64(b, o.n)
	return seal(key, append(b, o.text[:]...))
}

func openOutcome(key string, value []byte) (*outcome, error) {
	b, err := open(key, value)
	if err != nil {
		return nil, err
	}
	if len(b) != outcomeLen {
		return nil, damaged("the outcome %q has %d bytes", key, len(b))
	}
	o := &outcome{made: int64At(b), n: int64At(b[8:])}
	copy(o.text[:], b[16:])
	return o, nil
}

// remember makes w look up an earlier outcome of the creation, and keep a new
// one.
func (w *write) remember(operation string, once petstore.Once) {
	if once.IsZero() {
		return
	}
	digest := once.Digest(operation)
	w.once = onceKey + string(digest[:])
	w.needs = []string{w.once}
	w.ops++
	w.size += recordOverhead
}

// recall returns the outcome of an earlier creation with the same Once; nil if
// there is none or if it has expired.
func (u *update) recall(w *write) (*outcome, error) {
	if w.once == "" {
		return nil, nil
	}
	if o := u.made[w.once]; o != nil {
		return o, nil
	}
	if u.known == nil {
		u.absent = append(u.absent, w.once)
		return nil, nil
	}
	kv := u.known[w.once]
	if kv == nil {
		return nil, nil
	}
	o, err := openOutcome(w.once, kv.Value)
	if err != nil || expired(o.made, u.now) {
		return nil, err
	}
	return o, nil
}

func expired(made, now int64) bool { return made < now-int64(petstore.OnceKept) }

// note stores the outcome of a creation for which recall returned nil.
func (u *update) note(w *write, o *outcome) {
	if w.once == "" {
		return
	}
	u.made[w.once] = o
	u.digests = append(u.digests, w.once[1:]...)
	u.put(w.once, o.seal(w.once))
}
