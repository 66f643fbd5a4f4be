// Package etcdstore keeps pets and messages in an etcd cluster, so that
// they survive the loss of a machine.
//
//	store, err := etcdstore.Open(ctx, etcdstore.Config{
//		Endpoints: []string{"http://10.0.0.1:2379", "http://10.0.0.2:2379", "http://10.0.0.3:2379"},
//		NewStore:  true,
//	})
//
// A [Store] implements every interface of package petstore, on a cluster that
// any number of processes can use at the same time. When a call returns, what
// it stored is on stable storage of most members. Creations that wait in a
// process at the same moment share a transaction. The transaction succeeds only
// if the counters are still those that it was built on. So IDs are dense and in
// the order of commit, also with several processes.
//
// # What can be relied on
//
// Reads are linearizable: a call sees everything that a call in any process
// returned before it began.
//
// If the response to a transaction is lost, the store sends the transaction
// again with the same compare. Each process writes a mark in its transactions,
// by which it sees whether the first attempt was carried out. So no creation is
// stored twice, and a stored creation is not reported as failed if its outcome
// can be found out within [Config.RequestTimeout]. After that the call fails
// with petstore.CodeUnavailable, and the creation may have been stored. It is
// safe to repeat it with the same petstore.Once.
//
// Every record has a checksum over its key and value. A record that is damaged,
// missing or stored under the wrong key is an error ([ErrDamaged],
// petstore.CodeInternal) and never a result.
//
// A cluster without space refuses creations, and also removals because they
// change the counters (petstore.CodeFull). Reads go on, and so do repetitions of
// creations whose outcome is known. Without a majority every call fails with
// petstore.CodeUnavailable, within the request timeout.
//
// A name or a message has at most 1 MiB ([MaxTextBytes]), because a request to
// etcd must stay under 1.5 MiB. A longer one is refused with
// petstore.CodeInvalid.
//
// # The layout
//
// Every key is the prefix and a letter, and for most letters a number of 8
// bytes, big-endian, so that the keys have the order of the numbers:
//
//	s           state: the version of the layout, the counters, and what is not
//	            yet in a full block
//	w PROCESS   the mark of a process: the number of its last transaction
//	t PROCESS   exists as long as outcomes of the process must be kept
//	c           written by each transaction that loses against another process
//	p BLOCK     16 pets
//	P ID        the name of a pet, if it has more than 256 bytes
//	m CHUNK     how many pets of each status are before a chunk of 128
//	i S BLOCK   the IDs of 128 pets of the status with the number S
//	q N         a message: its time of creation, the length of its text
//	Q N         the text of a message
//	o DIGEST    the outcome of a creation with a petstore.Once
//	l PROCESS N the digests of the outcomes of one transaction of a process
//
// A block is written once, when it is full. Pets and IDs that are not yet in a
// block are in the state. So a list reads about the same number of keys at any
// cursor, and a block that was read need not be read again.
//
// Every value ends in a CRC-32C over the key, without the prefix, and the value.
package etcdstore
