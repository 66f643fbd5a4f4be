// Package conformance judges servers of the petstore contract from
// outside, over HTTP, whatever language they are written in.
//
// Its promise: a failed required check is always the target's fault, and what
// the contract leaves open is never held against anyone. Each check names the
// statement of the contract that it rests on; a failure comes with the
// exchange that proves it and a curl line to see it again.
//
// [Run] judges a target with every check and returns a [Report], which writes
// itself as text, JSON, JUnit XML or HTML. [Open] gives a [Session] to run
// checks one by one; package conformancetest uses it to make each check a
// subtest of go test, and the command cmd/conformance wraps both for targets
// without a Go toolchain at hand.
//
// A run assumes nothing of the target's state: any number of pets, of any
// ids, in any order, and other clients at work meanwhile. It creates pets
// under names that no other run uses, as many as it needs to prove the limits
// of a list, and reports what it left behind, since the contract has no way
// to delete. Where the target's state does not allow a judgement (a store too
// full for a list to show a new pet), the check is inconclusive rather
// than failed.
//
// The API key is used for the target and for nothing else: it appears in no
// report, not even when the target echoes it.
package conformance
