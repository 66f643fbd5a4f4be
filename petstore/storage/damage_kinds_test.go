package storage_test

import (
	"encoding/binary"
	"math/rand/v2"
)

// damage is a way to spoil a file. old is the same file at an earlier time.
type damage struct {
	name  string
	spoil func(b, old []byte, r *rand.Rand) []byte
}

const pageSize = 4096

func pageOf(b []byte, n int) []byte { return b[n*pageSize : (n+1)*pageSize] }

// The kinds of bbolt's pages, as their headers have them; 0 stands for what is
// on the freelist, with any header.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// pagesOf returns the pages of a kind.
func pagesOf(b []byte, kind uint16) (ids []int) {
	free := map[int]bool{}
	m := b[16:]
	if other := b[pageSize+16:]; binary.NativeEndian.Uint64(other[48:]) > binary.NativeEndian.Uint64(m[48:]) {
		m = other
	}
	list := pageOf(b, int(binary.NativeEndian.Uint64(m[32:])))
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		free[int(binary.NativeEndian.Uint64(list[16+8*i:]))] = true
	}
	for id := 2; id < len(b)/pageSize; id++ {
		if kind == 0 && free[id] || kind != 0 && !free[id] && binary.NativeEndian.Uint16(pageOf(b, id)[8:]) == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

func flipIn(kind uint16, length int) func(b, old []byte, r *rand.Rand) []byte {
	return func(b, _ []byte, r *rand.Rand) []byte {
		ids := pagesOf(b, kind)
		pageOf(b, ids[r.IntN(len(ids))])[r.IntN(length)] ^= 1 << r.IntN(8)
		return b
	}
}

var damageKinds = []damage{
	{"flip a bit", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a meta page", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(2)*pageSize+r.IntN(80)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a page header", func(b, _ []byte, r *rand.Rand) []byte {
		b[r.IntN(len(b)/pageSize)*pageSize+r.IntN(16)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a branch", flipIn(branchPage, 200)},
	{"flip a bit of a leaf", flipIn(leafPage, pageSize)},
	{"flip a bit of the freelist", flipIn(freelistPage, 100)},
	{"flip a bit of a free page", flipIn(0, pageSize)},
	{"zero a page", func(b, _ []byte, r *rand.Rand) []byte {
		clear(pageOf(b, r.IntN(len(b)/pageSize)))
		return b
	}},
	{"swap two pages", func(b, _ []byte, r *rand.Rand) []byte {
		p := pageOf(b, r.IntN(len(b)/pageSize))
		q := pageOf(b, r.IntN(len(b)/pageSize))
		for i := range p {
			p[i], q[i] = q[i], p[i]
		}
		return b
	}},
	{"copy a page over another", func(b, _ []byte, r *rand.Rand) []byte {
		copy(pageOf(b, r.IntN(len(b)/pageSize)), pageOf(b, r.IntN(len(b)/pageSize)))
		return b
	}},
	{stalePage, func(b, old []byte, r *rand.Rand) []byte {
		n := 2 + r.IntN(len(old)/pageSize-2)
		copy(pageOf(b, n), pageOf(old, n))
		return b
	}},
	{"cut at a page", func(b, _ []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b)/pageSize)*pageSize] }},
	{"cut anywhere", func(b, _ []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b))] }},
}

// stalePage is what a disk does that reports a write which it has not made.
const stalePage = "put a page back to an earlier time"
