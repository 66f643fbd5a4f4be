// Package clients runs clients against the difficult server of petstoretest. They are
// written as other people write clients: with generators, and by hand.
// docs/clients.md has the results.
package clients
