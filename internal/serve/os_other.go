//go:build !linux && !darwin

package serve

func maxFiles() int { return 1 << 20 } // the limit is not known
