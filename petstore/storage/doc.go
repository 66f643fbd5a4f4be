// Package storage keeps pets and messages in one bbolt file.
//
// A [Store] is every interface of package petstore over a file that one
// process has open at a time. What a call has returned is on stable storage;
// creations that wait at the same moment share a transaction, so that many
// callers pay for one sync together. A list costs the same whether the file
// holds a hundred pets or ten million, whatever the status and the page.
//
// # What can be relied on
//
// Every record carries a checksum over its table, key and value, and what can
// be proven complete is: blocks of pets and the outcomes of idempotent
// creations are chained, and the ends are counted. A damaged record, a missing one, or one that
// stands in for another is an error ([ErrDamaged], petstore.CodeInternal) and
// never an answer.
//
// The first damage that any call finds is logged, and from then on every change
// fails with [ErrDamaged] and petstore.CodeInternal: there may be more damage,
// and a write may destroy what can still be saved. Undamaged records stay
// readable. Stop the program, run refserver check, and restore a backup or
// export what is left. A change checks the pages that it replaces before it
// replaces them.
//
// A creation that does not fit on the disk is refused (petstore.CodeFull) and
// leaves the store as it was. After any other failure to write, the store no
// longer knows what is on disk and refuses everything ([Store.Failed]) until
// the file is opened again.
//
// After a crash, only one of bbolt's two meta pages leads to the last commit. If
// either page is damaged, that commit may be lost, and [Open] refuses the file
// ([ErrUndecided]). In a file that was closed, both pages lead to the same
// state, and either is enough.
//
// A store fails when something else writes to its file: at its next write, or
// within a second. Until then reads may return what was written, if its
// checksums are right. The store does not notice if its file is overwritten with
// one whose last transaction has the same ID and the same counters.
//
// # The file
//
// The buckets, with integers of 8 bytes, big-endian:
//
//	meta     application, schema, state: the mark, the version, the counters and whether the file is closed
//	pets     first id → a block of pets
//	status/… first id → a block of the pets of that status
//	queue    number → time of creation, the text
//	once     digest of a petstore.Once → the one before it, time, what was created
//	expiry   time, digest → nothing: what of once is the oldest
//
// A block holds the JSON of a run of pets, joined by commas, behind the id
// before the first, their number (2 bytes), and for each its id, less the
// first, and where its JSON ends (4 bytes each).
//
// There is a bucket for each status that a pet can have; pets without
// one are in none of them. Times are nanoseconds since 1970. Every value but
// those of expiry ends in a CRC-32C.
//
// # Upgrades
//
// The schema is version 1. A program opens files of its own version and of
// every older one, which it brings up to date in one transaction before it
// uses them; it refuses a newer one ([ErrNewer]) and leaves it untouched. So a
// file goes forward with a new release and never back: copy it first, if going
// back matters.
package storage
