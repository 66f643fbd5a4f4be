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
// A pet or message that is damaged, missing or stored under the wrong key is an error
// ([ErrDamaged], petstore.CodeInternal), never a result: every record has a checksum over its
// table, key and value, and each block of pets has the last ID of the block before it. A missing
// outcome of an idempotency key is not noticed, and a missing message only by a call of
// QueuedMessages that returns the whole queue, and by [Check]. After the first damage that a read
// or a change finds, every change fails with the same error, and undamaged records stay readable.
//
// A batch of changes for which the disk has no room is refused
// (petstore.CodeInsufficientStorage) and leaves the store as it was. After any other failed write
// or sync, the store no longer knows what is on disk and refuses everything ([Store.Failed]) until
// the file is opened again. The same happens at the first change after something else has written
// to the file, or has replaced it.
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
// A program refuses a file of a newer schema ([ErrNewer]). A release with a newer one
// must open files of every older one.
package storage
