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
	n    int64  // the pet's ID, the message's number
	made int64  // of a message: nanoseconds since 1970
	text []byte // of a message: the digest; nil for a pet
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
// there is none.
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
	if u.known[w.once] == nil {
		return nil, nil
	}
	b, err := u.known.open(w.once)
	if err != nil {
		return nil, err
	}
	switch len(b) {
	case 8:
		return &outcome{n: int64At(b)}, nil
	case 16 + sha256.Size:
		return &outcome{n: int64At(b), made: int64At(b[8:]), text: b[16:]}, nil
	}
	return nil, damaged("the outcome %q has %d bytes", w.once, len(b))
}

// note stores the outcome of a creation for which recall returned nil.
func (u *update) note(w *write, o *outcome) {
	if w.once == "" {
		return
	}
	u.made[w.once] = o
	u.digests = append(u.digests, w.once[len(onceKey):]...)
	b := appendInt64(nil, o.n)
	if o.text != nil {
		b = append(appendInt64(b, o.made), o.text...)
	}
	u.put(w.once, b)
}
