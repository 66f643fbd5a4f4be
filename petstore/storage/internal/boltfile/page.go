package boltfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// A page starts with a header: its ID (8 bytes), flags (2), how many elements it
// has (2), and how many further pages it takes (4). The array of elements
// follows, then their keys and values.
const (
	pageHeaderLen   = 16
	elementLen      = 16
	bucketHeaderLen = 16 // of a value that is a bucket

	branchFlag   = 0x01
	leafFlag     = 0x02
	metaFlag     = 0x04
	freelistFlag = 0x10
	bucketFlag   = 0x01 // of an element of a leaf
)

// page is a sound page of a tree, with the further pages that it takes.
type page struct {
	id    uint64
	leaf  bool // otherwise it is a branch
	count int  // elements
	b     []byte
}

// ref is a reference to a page: an element of a branch, or a root.
type ref struct {
	id  uint64
	up  page // the branch; the zero page above a root
	i   int
	end []byte // the first key after the branch; nil: there is none
}

// first returns the first key in the page, nil for a root, where it can be any.
func (r *ref) first() []byte {
	if r.up.b == nil {
		return nil
	}
	return r.up.key(r.i)
}

// after returns the first key after the page, nil if there is none.
func (r *ref) after() []byte {
	if r.i+1 < r.up.count {
		return r.up.key(r.i + 1)
	}
	return r.end
}

// reader reads pages.
type reader struct {
	file     io.ReaderAt
	pageSize int64
	pages    uint64 // how many there are
}

func (r *reader) exists(id uint64) error {
	if id < 2 || id >= r.pages { // 0 and 1 are meta pages
		return fmt.Errorf("%w: there is no page %d", ErrDamaged, id)
	}
	return nil
}

// head reads a page without the further pages that it takes, and returns how
// many these are. It uses buf if that is large enough. If only their number is
// wrong, head returns the page with the error.
func (r *reader) head(id uint64, buf []byte) ([]byte, uint64, error) {
	if err := r.exists(id); err != nil {
		return nil, 0, err
	}
	b := slices.Grow(buf[:0], int(r.pageSize))[:r.pageSize]
	if _, err := r.file.ReadAt(b, int64(id)*r.pageSize); err != nil {
		return nil, 0, badPage(id, "cannot be read: %v", err)
	}
	more := uint64(native.Uint32(b[12:]))
	if native.Uint64(b) != id {
		return nil, 0, badPage(id, "does not start with its own ID")
	}
	if more >= r.pages-id {
		return b, more, badPage(id, "claims %d pages after it, which is beyond the end", more)
	}
	return b, more, nil
}

// page reads a page of a tree and makes sure that it is sound: that it is as
// bbolt writes it and where at says. The page uses buf if that is large enough.
func (r *reader) page(at *ref, buf []byte) (page, error) {
	b, more, err := r.head(at.id, buf)
	if err != nil {
		return page{}, err
	}
	p, end, err := parse(at.id, b)
	if err != nil {
		return page{}, err
	}
	// bbolt frees the further pages with the first, so there must not be more.
	size := uint64(r.pageSize)
	if need := (end - 1) / size; more != need {
		return page{}, badPage(p.id, "claims %d pages after it, but needs %d", more, need)
	}
	if p.b, err = r.further(at.id, more, b); err != nil {
		return page{}, err
	}
	return p, p.checkKeys(at)
}

// further appends the further pages that a page takes.
func (r *reader) further(id, more uint64, b []byte) ([]byte, error) {
	if more == 0 {
		return b, nil
	}
	size := uint64(r.pageSize)
	b = slices.Grow(b, int(more*size))[:(more+1)*size]
	if _, err := r.file.ReadAt(b[size:], int64(id+1)*r.pageSize); err != nil {
		return nil, badPage(id, "cannot be read: %v", err)
	}
	return b, nil
}

// inline returns the page in the value of a small bucket, in a leaf with that ID.
func inline(id uint64, b []byte) (page, error) {
	if len(b) < pageHeaderLen {
		return page{}, badPage(id, "has a bucket that is cut short")
	}
	p, end, err := parse(id, b)
	if err != nil {
		return page{}, err
	}
	if !p.leaf || end > uint64(len(b)) {
		return page{}, badPage(id, "has a bucket that is not a leaf")
	}
	return p, p.checkKeys(&ref{})
}

// parse reads the header and the elements of a page, whose keys and values must
// follow without gaps. end is where they end; b may be shorter.
func parse(id uint64, b []byte) (p page, end uint64, err error) {
	flags := native.Uint16(b[8:])
	if flags != leafFlag && flags != branchFlag {
		return page{}, 0, badPage(id, "is not a page of a tree: it has the flags %#x", flags)
	}
	p = page{id: id, leaf: flags == leafFlag, count: int(native.Uint16(b[10:])), b: b}
	end = uint64(pageHeaderLen + p.count*elementLen)
	if end > uint64(len(b)) {
		return page{}, 0, badPage(id, "has %d elements, more than there is room for", p.count)
	}
	for i := range p.count {
		start, keyLen, valueLen := p.place(i)
		if start != end {
			return page{}, 0, badPage(id, "has a bad element %d", i)
		}
		end += keyLen + valueLen
	}
	return p, end, nil
}

// checkKeys returns an error unless the keys are in order and between those that
// at says.
func (p page) checkKeys(at *ref) error {
	first, after := at.first(), at.after()
	if p.count == 0 {
		if p.leaf && first == nil {
			return nil // an empty tree
		}
		return badPage(p.id, "has no elements")
	}
	last := p.key(0)
	if first != nil && !bytes.Equal(last, first) {
		return badPage(p.id, "does not start with the key in the branch above it")
	}
	for i := 1; i < p.count; i++ {
		key := p.key(i)
		if bytes.Compare(key, last) <= 0 {
			return badPage(p.id, "has its keys out of order at %d", i)
		}
		last = key
	}
	if after != nil && bytes.Compare(last, after) >= 0 {
		return badPage(p.id, "has keys of the page after it")
	}
	return nil
}

// checkBuckets returns an error unless the buckets in a leaf are sound, as far as
// they are in it.
func (p page) checkBuckets() error {
	for i := range p.count {
		if p.isBucket(i) {
			if _, err := p.bucket(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucket is where the records of a bucket are.
type bucket struct {
	root   uint64
	inline page // the only page of a bucket without a root, in the bucket's value
}

// bucket returns the bucket that an element of a leaf is.
func (p page) bucket(i int) (bucket, error) {
	value := p.value(i)
	if !p.isBucket(i) || len(value) < bucketHeaderLen {
		return bucket{}, badPage(p.id, "has an element %d that is not a bucket", i)
	}
	b := bucket{root: native.Uint64(value)}
	if b.root != 0 {
		return b, nil
	}
	var err error
	b.inline, err = inline(p.id, value[bucketHeaderLen:])
	return b, err
}

// place returns where the key of an element starts, and the lengths of the key
// and of the value after it.
func (p page) place(i int) (start, keyLen, valueLen uint64) {
	at := pageHeaderLen + i*elementLen
	e := p.b[at:]
	if p.leaf {
		valueLen = uint64(native.Uint32(e[12:]))
		e = e[4:] // after its flags
	}
	return uint64(at) + uint64(native.Uint32(e)), uint64(native.Uint32(e[4:])), valueLen
}

func (p page) key(i int) []byte {
	start, n, _ := p.place(i)
	return p.b[start : start+n]
}

// value returns the value of an element of a leaf.
func (p page) value(i int) []byte {
	start, key, n := p.place(i)
	return p.b[start+key : start+key+n]
}

// isBucket reports whether the value of an element of a leaf is a bucket.
func (p page) isBucket(i int) bool {
	return native.Uint32(p.b[pageHeaderLen+i*elementLen:])&bucketFlag != 0
}

// elements calls yield with the elements of a leaf that lie inside the page, and,
// if buckets, with those of the small buckets in it. Nothing else need be sound.
// at is where the page is in the file. It returns false if yield does.
func (p page) elements(at int64, buckets bool, yield func(Element) bool) bool {
	rest := 4 * uint64(len(p.b)) // damaged elements may overlap
	for i := range min(int(native.Uint16(p.b[10:])), (len(p.b)-pageHeaderLen)/elementLen) {
		start, key, value := p.place(i)
		if start+key+value > uint64(len(p.b)) || key+value > rest {
			continue
		}
		rest -= key + value
		e := Element{Key: p.key(i), Value: p.value(i), At: at + int64(start+key)}
		if !yield(e) {
			return false
		}
		if buckets && p.isBucket(i) && len(e.Value) >= bucketHeaderLen+pageHeaderLen {
			small := page{leaf: true, b: e.Value[bucketHeaderLen:]}
			if !small.elements(e.At+bucketHeaderLen, false, yield) {
				return false
			}
		}
	}
	return true
}

// child returns the reference of an element of a branch to the page below it.
// end is the first key after the branch.
func (p page) child(i int, end []byte) ref {
	return ref{native.Uint64(p.b[pageHeaderLen+i*elementLen+8:]), p, i, end}
}

func badPage(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d %s", ErrDamaged, id, fmt.Sprintf(format, args...))
}
