//go:build linux

package faulttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
		for _, p := range d.pending {
			d.durable = apply(d.durable, p)
		}
		d.pending = nil
	case c.name == "linkat":
		d.linked = d.linked || strings.HasSuffix(c.target, "petstore.db")
	}
}

// cut returns what a power failure during the last pending call can leave of the file: on
// some disks the calls before it and a part of it, on others a part of each.
func (d disk) cut(r *rand.Rand) []byte {
	if len(d.pending) == 0 || r.IntN(2) == 0 {
		return d.torn(r)
	}
	last := d.pending[len(d.pending)-1]
	b := d.with(d.pending[:len(d.pending)-1])
	if last.name == "ftruncate" {
		return b
	}
	part := r.IntN(len(last.data)/sector+1) * sector
	return apply(b, call{offset: last.offset, data: last.data[:part]})
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

// cutPower makes the power fail at n random moments of the recording, and checks what is
// then on the disk. It must open, have everything that a client knew to be acknowledged,
// nothing twice and no part of a change, and accept changes. What a failed call should have
// done is not on disk; what a failed sync should have written may be. Each client may have
// sent one change more.
func (r recording) cutPower(t *testing.T, what string, n int, random *rand.Rand) {
	t.Helper()
	moments := map[int]int{} // how often the power fails at a call
	for range n {
		moments[random.IntN(len(r.calls))]++
	}
	var d disk
	for i, c := range r.calls {
		if !c.injected {
			d.step(c)
		}
		name := "petstore.db"
		if !d.linked {
			name = "petstore.db.1.part"
		}
		for range moments[i] {
			checkFile(t, fmt.Sprintf("%s, the power fails at call %d, -seed %d", what, i, *seed), name, d.cut(random), r.At(c.at), writers)
		}
	}
}

// TestPowerCut records what a server does to its file, and cuts the power at moments of that.
func TestPowerCut(t *testing.T) {
	process.Tool(t, "strace")
	t.Parallel()
	cuts, random := rounds(25, 1000)
	requests, _ := rounds(24, 100)
	r := record(t, requests)
	if r.code != 0 || r.others() > 0 {
		t.Fatalf("exit code %d, responses by status: %v, %s", r.code, r.status, r.Tail())
	}
	r.cutPower(t, "all calls succeed", cuts, random)
	t.Logf("%d cuts in %d calls, %d acknowledged", cuts, len(r.calls), r.Acknowledged())
}
