// Package postgres keeps pets and messages in a PostgreSQL database.
//
//	store, err := postgres.Open(ctx, "postgres://petstore@10.0.0.1,10.0.0.2/petstore", nil)
//
// A [Store] implements the interfaces of package petstore, on a database that any
// number of processes use at the same time. When a call returns, what it stored is on
// stable storage and, with a synchronous standby, on that of the standby, too. All
// processes commit one after the other, so IDs ascend in the order of commit, without
// gaps. schema.sql has the tables.
//
// # Lost connections
//
// A call whose connection is lost is tried again on another one. No change is stored
// twice, and one that is stored is reported as stored, if the database responds within
// [Timeout]. After that the call fails with petstore.CodeUnavailable, and the message
// says whether it may have been stored.
//
// # Failover
//
// Of several hosts the store uses the one that accepts writes and has the newest
// timeline. It looks at all of them once a second. Once it has seen a newer timeline, it
// uses no connection to an earlier primary. Until then it may read from one that still
// runs.
//
// # Damage
//
// PostgreSQL's checksums find damaged pages. A pet whose row somebody has removed is not
// found; an export notices that it is missing.
package postgres
