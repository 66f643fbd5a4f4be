// Package storage keeps pets and messages in one bbolt file.
//
// A [Store] implements every interface of package petstore, on a file that one
// process has open at a time. When a call returns, what it stored is on stable
// storage. Changes that wait at the same moment share a transaction, so that many
// callers pay for one sync. A list costs the same whether the file holds a
// hundred pets or ten million, for every status and every page.
//
// # What can be relied on
//
// Every record has a checksum over its table, key and value. Each block of pets
// holds the ID before it, and the state of the store holds the last one of each
// table, so lists are complete. A record that is damaged, missing or stored under
// the wrong key is an error ([ErrDamaged], petstore.CodeInternal) and never a
// result.
//
// The first damage that any call finds is logged, and from then on every change
// fails with [ErrDamaged] and petstore.CodeInternal: there may be more damage,
// and a write may destroy what can still be saved. Undamaged records stay
// readable. Stop the program, run refserver check, and restore a backup or
// export what is left. A change checks the pages that it replaces before it
// replaces them.
//
// A change that does not fit on the disk is refused (petstore.CodeFull) and
// leaves the store as it was. After any other failed write or sync, the store no
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
// one whose last transaction has the same ID and the same state.
//
// # The path of a create
//
//	CreatePet          pet.go            validate and encode the pet
//	└ change           commit.go         queue the change; one of the callers commits for all
//	  └ commitNext     commit.go         take what is queued; wait for more if the last batch was larger
//	    └ update       update.go         make sure that the file was not replaced
//	      ├ transact   update.go         begin a bbolt transaction
//	      │ ├ load     update.go         check the pages that every change needs; load the state
//	      │ ├ createPet  pet.go, once.go look up the Once; add the pet to the last blocks in memory
//	      │ ├ flush    pet.go, block.go  store these blocks; put first checks the pages that change
//	      │ ├ store    state.go          store the state
//	      │ └ Commit   bbolt             write and sync the pages, then the meta page
//	      └ show       read.go           all reads use a snapshot of this commit from now on
//	← CreatePet                          every caller in the batch returns
//
// If Commit fails, commitError (failure.go) decides whether the changes of the
// batch are refused or the store has failed. The first change after Open is
// preceded by a commit of its own, which marks a closed file as open (closed.go).
//
// A read takes the current snapshot, finds its block with a cursor, and copies
// JSON out of the mapped file: AppendPage → view → appendPage → seekBlock.
//
// # The file
//
// The buckets, with integers of 8 bytes, big-endian:
//
//	petstore state → the version of the layout and counters: see the type state
//	pets     first ID → a block of pets
//	status/… first ID → a block of the pets of that status
//	queue    number → time of creation, the text
//	once/…   digest of a petstore.Once → clock, time, what was created
//
// A block holds the ID before its first pet and the number of its pets (2 bytes).
// For each pet follow its ID, less the first, and where its JSON ends (4 bytes
// each). The JSON follows, with commas between the pets.
//
// There is a bucket for each status that a pet can have; pets without one are in
// none of them. The outcomes of idempotent creates are in two buckets, one for
// the recent outcomes and one for older ones. Times are in nanoseconds since
// 1970; the clock is how long the file has been open. Every value ends in a
// CRC-32C.
//
// # Upgrades
//
// The schema is version 1, the first. A program refuses a file of a newer version
// ([ErrNewer]) and does not change it. A release with a newer schema must open
// files of every older one, and bring them up to date in one transaction before
// it uses them. An older release cannot open such a file again, so copy the file
// before an upgrade if you may have to go back.
package storage
