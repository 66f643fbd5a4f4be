package storage

import (
	"math"
	"math/bits"
	"runtime"
	"strconv"
)

// bbolt maps the file into memory, and to map more of a growing file it waits
// for all reads to end. Addresses cost nothing on most systems, so much more
// than the file is mapped from the start.

// mapAhead returns how many bytes beyond the end of the file to map. It is
// little in tests.
var mapAhead = func() int64 {
	switch {
	case runtime.GOOS == "windows":
		return 0 // bbolt would make the file that much longer
	case strconv.IntSize == 32:
		return smallMapAhead
	}
	return 64 << 30
}

// smallMapAhead is for a process that may not have that many addresses. It is
// more than the 16 MiB by which bbolt grows a file at a time.
const smallMapAhead = 64 << 20

// mapSize returns how many bytes bbolt maps for that many: a power of two, or a
// multiple of 1 GiB.
func mapSize(size int64) int64 {
	const step = 1 << 30
	if size > step {
		return min((size+step-1)/step*step, math.MaxInt)
	}
	return max(32<<10, int64(1)<<bits.Len64(uint64(size-1)))
}
