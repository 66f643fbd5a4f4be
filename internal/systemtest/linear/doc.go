// Package linear tests that the store behaves, to clients that use it at the
// same time over HTTP, as if it did one thing after the other: each request
// takes effect at one moment between the request and its response or, without a
// response, at one later moment or never.
package linear
