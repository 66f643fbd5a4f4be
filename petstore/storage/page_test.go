package storage_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

const pageSize = 4096

func pageOf(b []byte, n int) []byte { return b[n*pageSize : (n+1)*pageSize] }

// The kinds of bbolt's pages, as their headers have them.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// newerMeta returns the number of the meta page of the last transaction.
func newerMeta(file []byte) int {
	if commitOf(file, 1) > commitOf(file, 0) {
		return 1
	}
	return 0
}

// commitOf returns the number of the transaction that wrote a meta page.
func commitOf(file []byte, page int) uint64 {
	return binary.NativeEndian.Uint64(pageOf(file, page)[16+48:])
}

// pagesIn returns how many pages of a file bbolt has used.
func pagesIn(file []byte) int {
	return int(binary.NativeEndian.Uint64(pageOf(file, newerMeta(file))[16+40:]))
}

// lastCommit returns the number of the last transaction.
func lastCommit(file []byte) uint64 { return commitOf(file, newerMeta(file)) }

// rootPage returns the number of the page that leads to the tables. It has the state, too.
func rootPage(file []byte) int {
	return int(binary.NativeEndian.Uint64(pageOf(file, newerMeta(file))[16+16:]))
}

// pagesOf returns the pages of a kind that are in use.
func pagesOf(b []byte, kind uint16) (ids []int) {
	free := map[int]bool{}
	list := pageOf(b, int(binary.NativeEndian.Uint64(pageOf(b, newerMeta(b))[16+32:])))
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		free[int(binary.NativeEndian.Uint64(list[16+8*i:]))] = true
	}
	for id := 2; id < len(b)/pageSize; id++ {
		if !free[id] && binary.NativeEndian.Uint16(pageOf(b, id)[8:]) == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

// bitOf picks a bit of a file: half of them in headers and elements of pages.
func bitOf(b []byte, r *rand.Rand) int {
	branches, leaves, lists, metas := pagesOf(b, branchPage), pagesOf(b, leafPage), pagesOf(b, freelistPage), []int{0, 1}
	kind := [][]int{branches, leaves, leaves, slices.Concat(metas, lists)}[r.IntN(4)]
	page := kind[r.IntN(len(kind))]
	n := len(bytes.TrimRight(pageOf(b, page), "\x00"))
	if r.IntN(2) == 0 {
		elements := max(4, int(binary.NativeEndian.Uint16(pageOf(b, page)[10:]))) // 16 bytes each, after the header
		n = min(n, 16+16*elements)
	}
	return (page*pageSize+r.IntN(n))*8 + r.IntN(8)
}
