// Package clients tests the difficult server of petstoretest on clients in the
// way that other people write them: with generators, and by hand. docs/clients.md
// says what became of each.
package clients
