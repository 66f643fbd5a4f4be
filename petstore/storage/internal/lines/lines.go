// Package lines writes and reads exports. An export is a sequence of JSON objects, one on
// each line: the pets, the queued messages, the outcomes of idempotency keys, and an end
// that says how many there are. It may be compressed with gzip.
package lines

import (
	"crypto/sha256"
	"hash/crc32"
	"io"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// Record is a line of an export. It has one of Pet, Message, Outcome and End.
type Record struct {
	Size    int // in bytes
	Pet     *petstore.Pet
	Message *petstore.Message
	Outcome *Outcome
	End     *End
}

// Outcome says what a create with an idempotency key has created: a pet or a message.
type Outcome struct {
	Key     [sha256.Size]byte `json:"key"`              // rules.Digest of the key
	Value   [sha256.Size]byte `json:"value"`            // digest of the pet or message, without its ID
	Pet     int64             `json:"pet,omitzero"`     // its ID; 0: it was a message
	Message int64             `json:"message,omitzero"` // its number; 0: it was a pet
	Created int64             `json:"created"`          // when, in microseconds since 1970
}

// Expired reports whether o need not be remembered any longer. now is in microseconds since 1970.
func (o *Outcome) Expired(now int64) bool {
	return o.Created < now-petstore.IdempotencyWindow.Microseconds()
}

// Counts says how many lines of each kind there are.
type Counts struct {
	Pets     int64 `json:"pets"`
	Messages int64 `json:"messages"`
	Outcomes int64 `json:"outcomes"`
}

// End is the last line of an export. An export without it was cut short.
type End struct {
	Counts
	LastPet     int64  `json:"lastPet"`     // the highest ID that was issued
	LastMessage int64  `json:"lastMessage"` // the highest number that was issued
	CRC32C      uint32 `json:"crc32c"`      // of the lines before it, without their ends; 0: unknown
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes an export, each line at once.
type Writer struct {
	Counts // of the lines that were written

	w    io.Writer
	line []byte
	sum  uint32
}

// NewWriter returns a writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Pet writes the JSON of a pet.
func (w *Writer) Pet(json []byte) error {
	w.Pets++
	return w.write(json)
}

// Message writes a queued message.
func (w *Writer) Message(m *petstore.Message) error {
	w.Messages++
	return w.marshal(m)
}

// Outcome writes an outcome.
func (w *Writer) Outcome(o *Outcome) error {
	w.Outcomes++
	return w.marshal(map[string]*Outcome{"outcome": o})
}

// End writes the end of an export.
func (w *Writer) End(lastPet, lastMessage int64) error {
	return w.marshal(map[string]End{"end": {w.Counts, lastPet, lastMessage, w.sum}})
}

func (w *Writer) marshal(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.write(line)
}

func (w *Writer) write(json []byte) error {
	w.sum = crc32.Update(w.sum, castagnoli, json)
	w.line = append(append(w.line[:0], json...), '\n')
	_, err := w.w.Write(w.line)
	return err
}
