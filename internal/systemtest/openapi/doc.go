// Package openapi holds the tests of the description of the interface that
// need a validator or a generator: that it and the handler agree, and that
// what generators make of it works.
package openapi
