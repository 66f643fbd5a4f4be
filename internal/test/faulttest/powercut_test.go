//go:build linux

package faulttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// apply does the first n bytes of a write, or a truncation.
func apply(b []byte, c call, n int) []byte {
	if c.name == "ftruncate" {
		if n := int(c.offset); n > len(b) {
			return append(b, make([]byte, n-len(b))...)
		}
		return b[:c.offset]
	}
	if need := int(c.offset) + n - len(b); need > 0 {
		b = append(b, make([]byte, need)...)
	}
	copy(b[c.offset:], c.data[:n])
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
			d.durable = apply(d.durable, p, len(p.data))
		}
		d.pending = nil
	case c.name == "linkat":
		d.linked = d.linked || strings.HasSuffix(c.target, "petstore.db")
	}
}

// cut is what a power failure leaves: the first pending calls and the first
// bytes of the next one or, with a mask, some of the sectors of all of them.
type cut struct {
	calls, bytes int
	mask         func() bool // reports whether a sector is on disk
}

// cuts returns everything that a power failure during the last pending call can
// leave on a disk that keeps the order of writes, and two of the possibilities on a
// disk that does not.
func (d *disk) cuts(r *rand.Rand) (cuts []cut) {
	n := len(d.pending)
	last := d.pending[n-1]
	if last.name == "ftruncate" {
		return []cut{{n - 1, 0, nil}, {n, 0, nil}}
	}
	for size := 0; size <= len(last.data); size += sector {
		cuts = append(cuts, cut{n - 1, size, nil})
	}
	for range 2 {
		cuts = append(cuts, cut{n, 0, func() bool { return r.IntN(2) == 0 }})
	}
	return cuts
}

// image returns what the file is after a cut.
func (d *disk) image(c cut) []byte {
	b := append([]byte(nil), d.durable...)
	if c.mask == nil {
		for _, p := range d.pending[:c.calls] {
			b = apply(b, p, len(p.data))
		}
		if c.bytes > 0 {
			b = apply(b, d.pending[c.calls], c.bytes)
		}
		return b
	}
	for _, p := range d.pending[:c.calls] {
		if p.name == "ftruncate" {
			b = apply(b, p, 0)
			continue
		}
		grain := sector
		if c.mask() {
			grain = page
		}
		for at := 0; at < len(p.data); at += grain {
			if end := min(at+grain, len(p.data)); c.mask() {
				part := p
				part.data, part.offset = p.data[at:end], p.offset+int64(at)
				b = apply(b, part, end-at)
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
	requests, _ := rounds(12, 50)
	r := record(t, requests)
	if r.code != 0 || r.others() > 0 {
		t.Fatalf("exit code %d, responses by status: %v, %s", r.code, r.status, r.Tail())
	}
	type moment struct {
		call int
		cut  cut
	}
	var all []moment
	var d disk
	for i, c := range r.calls {
		if d.step(c); c.name == "pwrite64" || c.name == "ftruncate" {
			for _, cut := range d.cuts(random) {
				all = append(all, moment{i, cut})
			}
		}
	}
	if len(all) < want {
		t.Fatalf("the power can fail in %d ways, want at least %d", len(all), want)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	at := map[int][]cut{}
	for _, m := range all[:want] {
		at[m.call] = append(at[m.call], m.cut)
	}
	d = disk{}
	for i, c := range r.calls {
		d.step(c)
		for _, cut := range at[i] {
			d.check(t, fmt.Sprintf("the power fails at call %d, byte %d, -seed %d", i, cut.bytes, *seed), d.image(cut), r.At(c.at))
		}
	}
	t.Logf("%d images of %d possible, %d acknowledged", want, len(all), r.Acknowledged())
}

// check compares an image with what the clients knew when the power failed. Each of them
// may have sent one change more.
func (d *disk) check(t *testing.T, what string, image []byte, h *history.History) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	name := "petstore.db"
	if !d.linked {
		name = ".petstore.db.new-1"
	}
	process.WriteFile(t, filepath.Join(dir, name), image)
	check(t, what, filepath.Join(dir, "petstore.db"), h, writers)
}
