//go:build !unix

package serve

// maxFiles returns a large number: the limit on this system is not known.
func maxFiles() int { return 1 << 30 }

// lockDir does nothing.
func lockDir(string) (unlock func()) { return func() {} }
