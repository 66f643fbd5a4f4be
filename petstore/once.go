package petstore

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// OnceKept is how long the outcome of a creation made with a [Once] is
// remembered.
const OnceKept = 24 * time.Hour

// The operations that a [Once] can make idempotent, as [Once.Digest] takes
// them.
const (
	OnceCreatePet     = "createPet"
	OnceSubmitMessage = "submitMessage"
)

// Digest returns the key under which a store remembers the outcome of an
// operation made with o. Different operations, scopes and keys give different
// digests, wherever one string ends and the next begins; the length is the
// same whatever a client sends.
func (o Once) Digest(operation string) [sha256.Size]byte {
	var b []byte
	for _, s := range []string{operation, o.Scope, o.Key} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}
