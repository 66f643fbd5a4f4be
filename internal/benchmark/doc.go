// Package benchmark measures servers that run as processes of their own, and
// stores in process. It has only benchmarks:
//
//	go test -run '^$' -bench . ./internal/benchmark
//
// Most of them compare a server with another one in turn: with a bare server of
// net/http and bbolt, with another release, or with itself in another state. See
// docs/performance.md.
package benchmark
