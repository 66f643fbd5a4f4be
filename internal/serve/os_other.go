//go:build !linux && !darwin

package serve

import "math"

// These are not known on this system.

func maxFiles() int { return 1 << 20 }

func freeSpace(string) int64 { return math.MaxInt64 }
