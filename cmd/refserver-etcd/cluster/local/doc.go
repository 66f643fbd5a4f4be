// Package local runs a cluster on this machine: members of etcd and reference
// servers, each a process of its own with its own folder, on loopback. The
// command cluster, its benchmark and the tests of failures use it.
//
// The processes are the executable that started them, in another role: it
// calls [Role] before anything else. They end when it ends, however it does.
package local
