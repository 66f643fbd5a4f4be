// Package local runs a cluster on this machine: members of etcd and reference
// servers, each in a process and a folder of its own. The command cluster, its
// benchmark and the tests of failures use it.
//
// Each process runs the executable that started it, in another role. So a
// program that uses this package calls [Role] before anything else. The
// processes end with the one that started them, even if it crashes.
package local
