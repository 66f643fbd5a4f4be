// Package faulttest tests what a cluster does while parts of it fail. Members and
// servers are real processes, which are killed, paused, cut off and replaced
// under load. It also tests the commands of docs/cluster.md.
//
// With -args -full the tests kill and wait as often and as long as that page
// says:
//
//	go test -v -timeout 30m ./internal/faulttest -args -full
package faulttest
