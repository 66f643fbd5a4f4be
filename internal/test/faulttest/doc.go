// Package faulttest tests the store and the reference server against faults of
// processes, disks and clients, from outside: signals, failing system calls
// (strace), small file systems, raw connections. It exports nothing.
//
// Every test has a short form, which go test ./... runs, and a long one:
//
//	go test ./internal/test/faulttest -v -run TestKill -args -full
//
// Randomness comes from -seed. A test is skipped where strace, or the permission to
// mount, is missing. With CI=true in the environment it fails.
package faulttest
