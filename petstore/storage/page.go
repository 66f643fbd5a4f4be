package storage

import "fmt"

// The layout of bbolt's pages: a header, and for trees an array of elements
// that say where in the page their keys and values are.
const (
	pageHeaderLen = 16
	elementLen    = 16
	branchFlag    = 0x01
	leafFlag      = 0x02
	metaFlag      = 0x04
	freelistFlag  = 0x10
	bucketFlag    = 0x01 // of a leaf's element whose value is a bucket
	maxDepth      = 32

	bucketHeaderLen = 16 // of the value of a bucket's element
)

// page is a page as it was read, with those that follow it as its own.
type page struct {
	id    uint64
	flags uint16
	count int
	data  []byte // behind the header
}

// mostOverflow returns how many pages may follow a page as its own, of which
// the first is at hand, if its header speaks of as many as claimed.
func (n page) mostOverflow(claimed uint64) uint64 {
	size := uint64(len(n.data) + pageHeaderLen)
	switch n.flags {
	case leafFlag:
		// It ends with its last element.
		last := (n.count - 1) * elementLen
		if last < 0 || last+elementLen > len(n.data) {
			return 0
		}
		e := n.data[last:]
		end := pageHeaderLen + uint64(last) + uint64(native.Uint32(e[4:])) + uint64(native.Uint32(e[8:])) + uint64(native.Uint32(e[12:]))
		return (end - 1) / size
	case freelistFlag:
		// It was given its room before that was taken off the list.
		return claimed
	}
	return 0 // keys as short as ours always fit into one branch
}

func badPage(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d %s", ErrDamaged, id, fmt.Sprintf(format, args...))
}

// bucket returns the root page of the bucket in the i-th element of a leaf, 0
// for one that is small enough to be kept in the element.
func (l page) bucket(i int) (uint64, error) {
	_, value, isBucket, err := l.element(i)
	if err == nil && (!isBucket || len(value) < bucketHeaderLen) {
		err = badPage(l.id, "has a bad element %d", i)
	}
	if err != nil {
		return 0, err
	}
	return native.Uint64(value), nil
}

// element returns the i-th element of a leaf.
func (l page) element(i int) (key, value []byte, isBucket bool, err error) {
	if (i+1)*elementLen > len(l.data) {
		return nil, nil, false, badPage(l.id, "has %d elements", l.count)
	}
	e := l.data[i*elementLen:]
	start := uint64(i*elementLen) + uint64(native.Uint32(e[4:]))
	middle := start + uint64(native.Uint32(e[8:]))
	end := middle + uint64(native.Uint32(e[12:]))
	if end > uint64(len(l.data)) {
		return nil, nil, false, badPage(l.id, "has a bad element %d", i)
	}
	return l.data[start:middle], l.data[middle:end], native.Uint32(e)&bucketFlag != 0, nil
}

// child returns the page that the i-th element of a branch leads to.
func (b page) child(i int) (uint64, error) {
	if b.flags != branchFlag {
		return 0, badPage(b.id, "is no branch: it has the flags %#x", b.flags)
	}
	if i < 0 || i >= b.count || (i+1)*elementLen > len(b.data) {
		return 0, badPage(b.id, "has %d elements", b.count)
	}
	e := b.data[i*elementLen:]
	key := uint64(i*elementLen) + uint64(native.Uint32(e))
	if key+uint64(native.Uint32(e[4:])) > uint64(len(b.data)) {
		return 0, badPage(b.id, "has a bad element %d", i)
	}
	return native.Uint64(e[8:]), nil
}

// childKey returns the key of the i-th element, which child has found good.
func (b page) childKey(i int) []byte {
	e := b.data[i*elementLen:]
	start := uint64(i*elementLen) + uint64(native.Uint32(e))
	return b.data[start : start+uint64(native.Uint32(e[4:]))]
}
