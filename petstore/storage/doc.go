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
// holds the last ID of the block before it, and the state holds the last ID of each
// table. So a missing block is noticed, and an ID that an import left out is not mistaken for
// a missing block. A pet or message that is damaged, missing or
// stored under the wrong key is an error ([ErrDamaged], petstore.CodeInternal), never a
// result. A missing outcome of an idempotency key is not noticed. After the first damage
// that a read or a change finds, every change fails with the same error, and undamaged
// records stay readable.
//
// A batch of changes that does not fit on the disk is refused (petstore.CodeInsufficientStorage)
// and leaves the store as it was. After any other failed write or sync, the store no
// longer knows what is on disk and refuses everything ([Store.Failed]) until
// the file is opened again. The same happens at the first change after something
// else has written to the file, or has replaced it.
//
// Only one of bbolt's two meta pages leads to the last commit. If either is damaged,
// that commit may be lost, and [Open] refuses the file. [Salvage] saves what is left.
//
// The pages of bbolt have no checksums. Damage in them is mostly found by what is
// missing. Keep backups: a check does not see everything.
//
// # Backups
//
// A backup is an export of the store in use ([Store.Export], [CreateExportFile]), and [Import]
// makes a store of it. Pets never change and are never deleted, and IDs ascend in the order of
// commit. So an export can read them in many short reads, and still be of one moment. A long
// read would keep bbolt from using pages again: the file would grow, and stay slow.
//
// # The path of a create
//
// A change is what one caller wants. A batch is the changes that one transaction of bbolt
// commits (writeTx). A snapshot is a read transaction that all reads use until the next
// batch is on disk.
//
//	CreatePet           pet.go          validate the pet
//	└ update            commit.go       queue the change; one of the callers commits for all
//	  └ commitWaiting   commit.go       take the changes that wait: a batch
//	    └ commit        commit.go       in one transaction, for all of the batch:
//	      ├ sameFile    file.go         make sure that the file is still the one at its path
//	      ├ beginWrite  transaction.go  make sure that nothing else has written to the file
//	      ├ outcome     outcome.go      look up and store the outcome, if there is a key
//	      ├ addPet      pet.go          encode the pet, and add it to the last blocks in memory (tail)
//	      ├ store       transaction.go  store these blocks and the state
//	      ├ Commit      bbolt           write and sync the pages, then the meta page
//	      ├ readBack    transaction.go  begin a snapshot, and make sure that the pets are found in it
//	      └ publish     snapshot.go     all reads use it from now on
//	← CreatePet                         every caller in the batch returns
//
// If Commit fails, commitError (failure.go) decides whether the changes of the batch are
// refused, the file is damaged or the store has failed. If readBack finds damage, nothing is
// published and all changes are refused from then on. A read uses the snapshot that was published
// last (view, in snapshot.go), finds its block with a cursor (seekBlock, in block.go), and
// copies JSON out of the mapped file. No read goes back in time: a snapshot is published
// after its commit is on disk, and begin makes sure that it is of the next commit.
//
// # The file
//
// The buckets, with integers of 8 bytes, big-endian:
//
//	petstore  state → the version of the layout and counters: see the type state
//	pets      first ID → a block of pets
//	status/…  first ID → a block of the pets of that status
//	queue     number → time of creation, the text
//	outcomes  digest of an idempotency key → time, what was created, its digest
//
// A block holds the ID before its first pet, that of its last one, and how many pets it
// has (4 bytes). Its index follows: for each pet the ID, and where its JSON starts (4 bytes).
// Then comes the JSON of the pets, with a comma after each. Pets without a status are in no
// bucket of a status. Times are in microseconds since 1970. Every value ends in
// a CRC-32C.
//
// A program refuses a file of a newer schema ([ErrNewer]). A release with a newer one
// must open files of every older one.
package storage
