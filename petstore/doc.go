// Package petstore is the model of the petstore and the interfaces that
// its parts meet at.
//
// A pet is a [NewPet] before it is stored and a [Pet] afterwards. Whoever
// keeps pets implements [Service]; whoever keeps submitted messages
// implements [Messages], and [Queue] for the worker that takes them off.
// Packages petstore/storage and petstore/storage/memory do all three, and
// package petstore/httpapi serves them over HTTP.
//
// The package knows nothing of HTTP and nothing of disks. Its rules are the
// contract's and no others: the validation methods accept exactly what the
// contract's schemas accept, and every store calls them, so that a rule lives
// here once.
//
// Errors that mean something to a caller are of type [*Error]; [CodeOf] tells
// which kind an error is of.
package petstore
