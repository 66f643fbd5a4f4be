// Package faulttest tests the store and the reference server against faults of
// processes, disks and clients, from outside: signals, failing system calls
// (strace), small file systems, raw connections. It exports nothing.
//
// Every test has a short form, which go test ./... runs, and a long one:
//
//	go test ./internal/faulttest -v -run TestKill -args -full
//
// Randomness comes from -seed. Tests that need strace or root are skipped
// without them. With CI=true in the environment they fail.
package faulttest
