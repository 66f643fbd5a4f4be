// Package benchmark measures servers that run as processes of their own:
//
//	go test -run '^$' -bench . ./internal/benchmark
//
// It compares the reference server, on a small and on a large file, with a bare
// server of net/http and bbolt. See docs/performance.md.
package benchmark
