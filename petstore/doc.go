// Package petstore is the model of the petstore: pets and messages, the
// interfaces of their stores, and the rules of the contract.
//
// To use pets, open a store: memory.New of petstore/storage/memory in tests,
// storage.Open of petstore/storage otherwise. Both are a [Service], which
// creates, lists and gets pets. To serve them over HTTP, pass the Service to
// httpapi.New of petstore/httpapi. To use the pets of a server, call client.New
// of petstore/client: a client is a Service too.
//
// A pet is a [NewPet] before it is stored and a [Pet] afterwards. [Messages]
// accepts messages, and [Queue] is for the worker that removes them.
// [Statistics] is optional for a store.
//
// Errors that mean something to a caller are of type [*Error]; [CodeOf] returns
// the [Code] of any error.
//
// To implement a store, start with [Service] and run the tests of
// petstore/storage/storagetest on it; examples/ownstore has a small one. Only stores
// need [CursorAfter] and [Cursor.ID].
package petstore
