// Package postgres keeps pets and messages in a PostgreSQL database.
//
//	store, err := postgres.Open(ctx, "postgres://petstore@10.0.0.1,10.0.0.2/petstore", nil)
//
// A [Store] implements the interfaces of package petstore, on a database that any
// number of processes use at the same time. When a call returns, what it stored is on
// stable storage and, with a synchronous standby, on that of the standby, too.
//
// # The path of a create
//
//	CreatePet       pet.go     validate; hash the pet if there is an idempotency key
//	└ update        queue.go   queue the change; wait for its result
//	commitAll       queue.go   take what has queued up: a batch
//	└ commit        commit.go  try until there is a result
//	  └ attempt     commit.go  one transaction, two round trips:
//	    ├ lock      commit.go  BEGIN, lock the row, read the state and known outcomes
//	    ├ apply     commit.go  give each change its ID, or its earlier result
//	    └ insert    commit.go  insert the rows and the new state, COMMIT
//
// All commits of all processes lock the row of petstore.store, so they are one after
// the other, and IDs ascend in the order of commit, without gaps.
//
// # Lost connections
//
// A transaction that ended before COMMIT was sent is tried again. If the response to
// COMMIT is lost, the next attempt looks for the number and the token of the commit,
// under the lock, which the lost transaction held until it ended. So no change is
// stored twice, and one that is stored is reported as stored, if the database responds
// within [Timeout]. After that the call fails with petstore.CodeUnavailable,
// and the message says whether it may have been stored.
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
//
// The tables are in schema.sql.
package postgres
