//go:build !unix

package serve

// maxFiles returns 0: how many files can be open is not known on this system.
func maxFiles() int { return 0 }
