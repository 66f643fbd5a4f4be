// Package faulttest holds tests that take the process, the disk and the
// clients away from the store and the reference server, from outside: signals,
// failing system calls (strace), limits on files, a file system of a few
// megabytes, raw sockets. There is nothing to import here.
//
// Every test has a short form, which go test ./... runs, and a long one:
//
//	go test ./internal/faulttest -v -timeout 2h -full -run TestKill
//
// What is left to chance follows from -seed, which every test prints. Tests
// that need Linux, strace or root are skipped without them, unless the
// environment says CI=true. docs/reliability.md has the figures of the long
// runs.
package faulttest
