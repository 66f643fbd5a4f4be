package storage_test

import "encoding/binary"

const pageSize = 4096

func pageOf(b []byte, n int) []byte { return b[n*pageSize : (n+1)*pageSize] }

// The kinds of bbolt's pages, as their headers have them; 0 stands for what is
// on the freelist, with any header.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// newerMeta returns the number of the meta page of the last transaction.
func newerMeta(file []byte) int {
	txid := func(page int) uint64 { return binary.NativeEndian.Uint64(pageOf(file, page)[16+48:]) }
	if txid(1) > txid(0) {
		return 1
	}
	return 0
}

// pagesOf returns the pages of a kind.
func pagesOf(b []byte, kind uint16) (ids []int) {
	free := map[int]bool{}
	list := pageOf(b, int(binary.NativeEndian.Uint64(pageOf(b, newerMeta(b))[16+32:])))
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
