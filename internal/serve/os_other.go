//go:build !unix

package serve

// maxFiles returns a large number: the limit on this system is not known.
func maxFiles() int { return 1 << 20 }
