// Package etcdstore keeps pets and messages in an etcd cluster, so that
// they outlive the loss of a machine.
//
// A [Store] is every interface of package petstore over a cluster that any
// number of processes use at the same time. What a call has returned is on
// stable storage of most members. Creations that wait in a process at the same
// moment share a transaction, which compares the counters with what it read
// of them: identifiers are therefore dense, and in the order of commit
// whichever process they come from.
//
// # What can be relied on
//
// Reads are linearizable: what a call has returned is seen by every call, in
// every process, that begins after it. [Config.Serializable] gives that up for
// reads that go on without a majority.
//
// A transaction whose answer was lost is sent again with the same compare, and
// recognised by the sender's own mark if it was carried out the first time: no
// creation is stored twice, and none that was stored is called a failure as
// long as its outcome can be learnt within [Config.RequestTimeout]. After that
// the error is petstore.CodeUnavailable and the outcome is open; a repetition
// with the same petstore.Once is safe.
//
// Every record carries a checksum over its place and its value. A damaged
// record, a missing one, or one that stands in for another is an error
// ([ErrDamaged], petstore.CodeInternal) and never an answer.
//
// A cluster without room refuses creations and removals (petstore.CodeFull),
// the latter because they change the counters too. Reads go on, and so do
// repetitions of creations whose outcome is known. Without a majority every
// call ends with petstore.CodeUnavailable, within the request timeout.
//
// A name and a message can have 1 MiB ([MaxTextBytes]): a request to the engine
// must stay under 1.5 MiB. A longer one is refused with petstore.CodeInvalid.
//
// # The layout
//
// Every key is the prefix, a letter, and for most letters an integer of 8
// bytes, big-endian, of which ascending numbers give ascending keys:
//
//	a           application and version of the layout
//	s           state: the counters, and what fills no block yet
//	w PROCESS   the last transaction of a process: its number, its time
//	c           the process that last lost against another one
//	p BLOCK     16 pets
//	P ID        the name of a pet, if it has more than 256 bytes
//	m CHUNK     how many pets of each status are before a chunk of 128
//	i S BLOCK   the IDs of 128 pets of the status with the number S
//	q N         a message: when it was made, its text
//	Q N         the text of a message, if it has more than 256 bytes
//	o DIGEST    the outcome of a creation made with a petstore.Once
//	l N         the digests of outcomes made together, in the order of time
//	f           the first l there is
//
// A block is written once, when it is full; the pets and the IDs that are not
// yet in one are in the state. A page of a list therefore costs a known number
// of keys, whatever its place, and a block that was read can be believed for
// ever.
//
// Every value ends in a CRC-32C over the key without the prefix and the value.
package etcdstore
