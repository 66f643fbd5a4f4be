//go:build linux

package faulttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/history"
	"example.com/animalstore/internal/test/process"
)

const (
	sector = 512
	page   = 4096
)

// disk is the store's file at one point of a recording.
type disk struct {
	linked  bool   // the file has its name
	durable []byte // what a power failure cannot change
	pending []call // writes and truncations since the last sync
}

// apply does a write or a truncation.
func apply(b []byte, c call) []byte {
	if more := int(c.offset) + len(c.data) - len(b); more > 0 {
		b = append(b, make([]byte, more)...)
	}
	if c.name == "ftruncate" {
		return b[:c.offset]
	}
	copy(b[c.offset:], c.data)
	return b
}

// step adds the next call of the recording.
func (d *disk) step(c call) {
	store := strings.Contains(c.path, "petstore.db") // not the directory: the images are checked with and without the link
	switch {
	case store && (c.name == "pwrite64" || c.name == "ftruncate"):
		d.pending = append(d.pending, c)
	case store && (c.name == "fdatasync" || c.name == "fsync"):
		d.durable, d.pending = d.with(d.pending), nil
	case c.name == "linkat":
		d.linked = d.linked || strings.HasSuffix(c.target, "petstore.db")
	}
}

// cuts returns what a power failure during the last pending call can leave of the file:
// everything on a disk that keeps the order of writes, and two of the possibilities on a
// disk that does not.
func (d disk) cuts(r *rand.Rand) (images []func() []byte) {
	before, last := d.pending[:len(d.pending)-1], d.pending[len(d.pending)-1]
	images = append(images, func() []byte { return d.with(before) })
	for size := sector; size <= len(last.data); size += sector {
		part := call{offset: last.offset, data: last.data[:size]}
		images = append(images, func() []byte { return apply(d.with(before), part) })
	}
	if last.name == "ftruncate" {
		return append(images, func() []byte { return d.with(d.pending) })
	}
	for range 2 {
		images = append(images, func() []byte { return d.torn(r) })
	}
	return images
}

// with returns the file after these pending calls.
func (d disk) with(calls []call) []byte {
	b := bytes.Clone(d.durable)
	for _, c := range calls {
		b = apply(b, c)
	}
	return b
}

// torn returns the file after some sectors or pages of all pending writes.
func (d disk) torn(r *rand.Rand) []byte {
	b := bytes.Clone(d.durable)
	for _, c := range d.pending {
		if c.name == "ftruncate" {
			b = apply(b, c)
		}
		grain := []int{sector, page}[r.IntN(2)]
		for at := 0; at < len(c.data); at += grain {
			if r.IntN(2) == 0 {
				part := c.data[at:min(at+grain, len(c.data))]
				b = apply(b, call{offset: c.offset + int64(at), data: part})
			}
		}
	}
	return b
}

// TestPowerCut records what a server does to its file, and checks the files that
// power failures at many points of the recording would leave. Each must open, have
// everything that a client knew to be acknowledged, nothing twice and no part of a
// change, and accept changes.
func TestPowerCut(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	want, random := rounds(25, 1000)
	requests, _ := rounds(24, 100)
	r := record(t, requests)
	if r.code != 0 || r.others() > 0 {
		t.Fatalf("exit code %d, responses by status: %v, %s", r.code, r.status, r.Tail())
	}
	var checks []func()
	var d disk
	for i, c := range r.calls {
		if d.step(c); c.name != "pwrite64" && c.name != "ftruncate" {
			continue
		}
		now := d // the next calls do not change what it refers to
		for j, image := range now.cuts(random) {
			what := fmt.Sprintf("the power fails at call %d, image %d, -seed %d", i, j, *seed)
			checks = append(checks, func() { now.check(t, what, image(), r.At(c.at)) })
		}
	}
	if len(checks) < want {
		t.Fatalf("the power can fail in %d ways, want at least %d", len(checks), want)
	}
	random.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
	for _, check := range checks[:want] {
		check()
	}
	t.Logf("%d images of %d possible, %d acknowledged", want, len(checks), r.Acknowledged())
}

// check compares an image with what the clients knew when the power failed. Each of them
// may have sent one change more.
func (d disk) check(t *testing.T, what string, image []byte, h *history.History) {
	t.Helper()
	name := "petstore.db"
	if !d.linked {
		name = "petstore.db.1.part"
	}
	checkFile(t, what, name, image, h, writers)
}
