// Package faulttest tests the store and the reference server against faults of
// processes, disks and clients, from outside: signals, failing system calls
// (strace), raw connections. It exports nothing. Its tests hold these promises of
// docs/reliability.md:
//
//   - TestKill: what the server acknowledges is on disk after kill -9; nothing is
//     stored twice; no read returns an older state than an earlier read did
//   - TestPowerCut: what the server acknowledges is on disk after a power cut
//   - TestFailingCalls: a full disk or quota stops only changes; any other failed
//     write or sync stops the store
//   - TestHungDisk: the server responds to a change only after it has synced it;
//     reads do not wait for writes
//   - TestDrain: a server that is stopped loses no response
//   - TestOverload: memory is bounded
//   - TestFlood: when all connections are taken, the clients that have one still get
//     their responses, and new clients wait
//
// and these of docs/operations.md:
//
//   - TestHungDisk: if a disk hangs, the process ends two seconds after -drain
//   - TestCommandsKilled: an import or export makes its whole file or none
//
// Every test has a short form, which go test ./... runs, and a long one:
//
//	go test ./internal/test/faulttest -v -run TestKill -args -full
//
// Randomness comes from -seed. A test is skipped where strace is missing. With CI=true in
// the environment it fails.
package faulttest
