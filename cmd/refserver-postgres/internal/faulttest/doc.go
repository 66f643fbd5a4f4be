// Package faulttest tests what servers do whose PostgreSQL fails: a Patroni cluster
// of three nodes with two servers in front of it, all real processes, which are
// killed, stopped and replaced under load.
//
// Without flags it kills a primary once. .ci/long runs all faults:
//
//	go test -v -timeout 1h ./internal/faulttest -args -full
package faulttest
