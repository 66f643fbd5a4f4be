//go:build linux

package faulttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

const (
	sector = 512
	page   = 4096
)

// disk is a file as a recording has it at one point: what is surely on the
// disk, and what was written since the last sync.
type disk struct {
	t       *testing.T
	linked  bool // under its own name
	durable []byte
	pending []call
	told    told // acknowledged so far
}

// apply makes a write or a truncation, the first n bytes of it.
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

// step takes a call of the recording.
func (d *disk) step(c call) {
	switch c.name {
	case "pwrite64", "ftruncate":
		d.pending = append(d.pending, c)
	case "fdatasync", "fsync":
		if !strings.Contains(c.path, "pets.db") {
			return // the directory: its link is looked at with and without
		}
		for _, p := range d.pending {
			d.durable = apply(d.durable, p, len(p.data))
		}
		d.pending = nil
	case "linkat":
		d.linked = true
	case "write":
		for line := range strings.Lines(string(c.data)) {
			d.told.add(strings.TrimSuffix(line, "\n"))
		}
	}
}

// cut is what a power cut can leave: all pending calls before the last, of that
// the first bytes; or, with a mask, any of the pending sectors.
type cut struct {
	calls, bytes int
	mask         func() bool // nil: none
}

// cuts returns all that a power cut can leave while the last pending call is
// being made, as far as order is kept, and a few where it is not.
func (d *disk) cuts(r *rand.Rand) (cuts []cut) {
	n := len(d.pending)
	last := d.pending[n-1]
	if last.name == "ftruncate" {
		return []cut{{n - 1, 0, nil}, {n, 0, nil}}
	}
	for size := 0; size <= len(last.data); size += sector {
		cuts = append(cuts, cut{n - 1, size, nil})
	}
	for range 2 { // a disk keeps no order between syncs
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

// TestPowerCut records what a writer does to its file, and looks at what the
// file would be had the power failed at any point of it.
func TestPowerCut(t *testing.T) {
	needStrace(t)
	want, random := times(t, 60, 3000)
	changes := 12
	if *full {
		changes = 30
	}
	_, h, calls, code := recordWriter(t, changes)
	if code != 0 || len(h.other) > 0 || h.failed != "" {
		t.Fatalf("the writer ended with %d: %v %s", code, h.other, h.failed)
	}
	type moment struct {
		call int
		cut  cut
	}
	var all []moment
	d := &disk{t: t, told: hear("")}
	for i, c := range calls {
		if d.step(c); c.name == "pwrite64" || c.name == "ftruncate" {
			for _, cut := range d.cuts(random) {
				all = append(all, moment{i, cut})
			}
		}
	}
	t.Logf("%d calls, %d acknowledged changes, %d ways to be cut off", len(calls), len(h.pets)+len(h.messages), len(all))
	if len(all) > want {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:want]
	} else if *full {
		t.Errorf("fewer than %d", want)
	}
	at := map[int][]cut{}
	for _, m := range all {
		at[m.call] = append(at[m.call], m.cut)
	}
	seen := 0
	d = &disk{t: t, told: hear("")}
	old := petstore.Stats{}
	for i, c := range calls {
		d.step(c)
		if len(d.pending) == 0 && c.name == "fdatasync" && d.linked && len(at) > 0 {
			old = d.look(fmt.Sprintf("after call %d", i), d.durable, nil)
		}
		for _, cut := range at[i] {
			d.look(fmt.Sprintf("cut at call %d, %d of its bytes, -seed %d", i, cut.bytes, *seed), d.image(cut), &old)
			seen++
		}
	}
	t.Logf("%d images looked at", seen)
}

// look opens an image. Where old is not nil, the image has to be of that state
// or of the next.
func (d *disk) look(what string, image []byte, old *petstore.Stats) (stats petstore.Stats) {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "pets.db")
	defer os.RemoveAll(filepath.Dir(path))
	name := path
	if !d.linked {
		name = filepath.Join(filepath.Dir(path), ".pets.db.new-1")
	}
	if err := writeSparse(name, image); err != nil {
		d.t.Fatal(err)
	}
	stats = hold(d.t, what, path, d.told)
	if old == nil {
		return stats
	}
	grown := stats.Pets - old.Pets + stats.QueuedMessages - old.QueuedMessages
	if grown < 0 || grown > writerCallers {
		d.t.Errorf("%s: opened with %+v, which is not %+v or the next state", what, stats, *old)
	}
	return stats
}

// writeSparse writes a file with holes where there are only zeros.
func writeSparse(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	zeros := make([]byte, page)
	for at := 0; at < len(b); at += page {
		part := b[at:min(at+page, len(b))]
		if string(part) == string(zeros[:len(part)]) {
			continue
		}
		if _, err := f.WriteAt(part, int64(at)); err != nil {
			return err
		}
	}
	return f.Truncate(int64(len(b)))
}
