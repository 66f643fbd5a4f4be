// Package faulttest tests the store and the reference server against faults of
// processes, disks and clients, from outside: signals, failing system calls
// (strace), small file systems, limits, raw sockets. It exports nothing.
//
// Every test has a short form, which go test ./... runs, and a long one:
//
//	go test ./internal/faulttest -v -timeout 2h -run TestKill -args -full
//
// Randomness comes from -seed. With -idle, on a machine that does nothing else,
// tests also fail because of times and rates. Tests that need Linux, strace or
// root are skipped without them. With CI=true in the environment they fail.
//
// Every test logs what it has done in a line "fault: NAME: COUNTS". .ci/run
// prints these lines and fails if a name in testdata/faults has none.
// docs/reliability.md has the figures of the long runs.
package faulttest
