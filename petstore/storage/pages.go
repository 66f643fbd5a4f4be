package storage

import (
	"encoding/binary"
	"errors"
	"os"

	"example.com/animalstore/petstore/storage/internal/lines"
)

// The format of bbolt's pages.
const (
	pageHeaderLen = 16
	metaMagic     = 0xED0CDAED
	metaVersion   = 2
	branchFlag    = 0x01
	leafFlag      = 0x02
	elementLen    = 16 // of a branch or leaf page
	freelistFlag  = 0x10
)

var native = binary.NativeEndian

// pages reads the pages of a file without bbolt, which panics on damaged ones, or follows them
// in circles.
type pages struct {
	file *os.File
	meta meta
	seen map[uint64]bool // the branch pages that were read: no circle of them is endless
}

// read reads a page.
func (p *pages) read(id uint64) ([]byte, error) {
	if id >= p.meta.pages {
		return nil, damaged("a key leads to page %d, which is not in the file", id)
	}
	page := make([]byte, p.meta.pageSize)
	_, err := p.file.ReadAt(page, int64(id)*p.meta.pageSize)
	if err == nil && native.Uint64(page) != id {
		err = errors.New("its header is of another page")
	}
	more := int64(native.Uint32(page[12:])) * p.meta.pageSize
	if err == nil && more > 0 && native.Uint16(page[8:]) == leafFlag { // a long record
		if more > 4*lines.MaxLine { // bbolt keeps at most four of them together
			return nil, damaged("page %d cannot be read: it is too long", id)
		}
		page = make([]byte, p.meta.pageSize+more)
		_, err = p.file.ReadAt(page, int64(id)*p.meta.pageSize)
	}
	if err != nil {
		return nil, damaged("page %d cannot be read: %v", id, err)
	}
	return page, nil
}

// record is a record in a leaf page. The branch pages say that its key is from low to below
// high; nil: there is no bound.
type record struct {
	key, value, low, high []byte

	flags   uint32 // 1: it is a bucket
	follows bool   // the record before it, or it is the first: there is no damage between
}

// walk calls visit with each record below a page, and with each damage.
func (p *pages) walk(page, low, high []byte, visit func(record, error)) {
	if len(page) < pageHeaderLen {
		visit(record{}, damaged("a page is too short"))
		return
	}
	id, flags, n := native.Uint64(page), native.Uint16(page[8:]), int(native.Uint16(page[10:]))
	if flags != branchFlag && flags != leafFlag || pageHeaderLen+elementLen*n > len(page) {
		visit(record{}, damaged("page %d is not one of a table", id))
		return
	}
	if flags == branchFlag {
		if p.seen[id] {
			visit(record{}, damaged("two keys lead to page %d", id))
			return
		}
		p.seen[id] = true
	}
	for i := range n {
		key, value := element(page, i)
		if key == nil {
			visit(record{}, damaged("the key %d of page %d is not in it", i, id))
		}
		if flags == leafFlag {
			if key != nil {
				visit(record{key: key, value: value, low: low, high: high, flags: native.Uint32(page[pageHeaderLen+elementLen*i:])}, nil)
			}
			continue
		}
		next := high
		if i+1 < n {
			next, _ = element(page, i+1)
		}
		child, err := p.read(native.Uint64(page[pageHeaderLen+elementLen*i+8:]))
		if err != nil {
			visit(record{}, err)
			continue
		}
		p.walk(child, key, next, visit)
	}
}

// element returns the key of the i-th element of a page and, in a leaf page, its value. They
// are nil if they are not in the page.
func element(page []byte, i int) (key, value []byte) {
	e := page[pageHeaderLen+elementLen*i:]
	at, keyLen, valueLen := native.Uint32(e), native.Uint32(e[4:]), uint32(0)
	if native.Uint16(page[8:]) == leafFlag { // the first four bytes are flags
		at, keyLen, valueLen = keyLen, native.Uint32(e[8:]), native.Uint32(e[12:])
	}
	if uint64(at)+uint64(keyLen)+uint64(valueLen) > uint64(len(e)) {
		return nil, nil
	}
	e = e[at:]
	return e[:keyLen:keyLen], e[keyLen : keyLen+valueLen]
}
