// Package scenario holds tests of what a cluster does while parts of it fail:
// members and servers are processes of their own, that are killed, paused, cut
// off and replaced under load.
//
// The tests take some minutes. With CLUSTER_FULL=1 in the environment they
// kill and wait as often and as long as docs/cluster.md says:
//
//	CLUSTER_FULL=1 go test -v -timeout 30m ./scenario
package scenario
