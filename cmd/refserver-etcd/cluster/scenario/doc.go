// Package scenario tests what a cluster does while parts of it fail. Members and
// servers are real processes, which are killed, paused, cut off and replaced
// under load.
//
// The tests take some minutes. With CLUSTER_FULL=1 in the environment they
// kill and wait as often and as long as docs/cluster.md says:
//
//	CLUSTER_FULL=1 go test -v -timeout 30m ./scenario
package scenario
