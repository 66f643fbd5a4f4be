package petstoretest

import (
	"context"

	"example.com/animalstore/petstore"
)

// Option is a setting of [New] and [Start].
type Option func(*config)

type config struct {
	addr  string
	store petstore.Service // nil: one in memory

	difficult bool
	seed      uint64
	names     []string // of difficulties
}

// Listen sets the host and port on which the server listens. The default is a free
// port of 127.0.0.1.
func Listen(addr string) Option { return func(c *config) { c.addr = addr } }

// Store sets the store that the server serves. If s is a [petstore.Messages], the
// server also accepts messages. The default is an empty store in memory.
func Store(s petstore.Service) Option { return func(c *config) { c.store = s } }

// Keys maps API keys to their accounts. It is an httpapi.Authenticator.
type Keys map[string]string

// Authenticate implements httpapi.Authenticator.
func (k Keys) Authenticate(_ context.Context, key string) (string, error) {
	if account, ok := k[key]; ok {
		return account, nil
	}
	return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
}

// theKey has letters of both cases and other characters, as real keys do.
const theKey = "Petstore_Test-Key0123456789abcXYZ"

// Difficult makes the server do what the contract allows and a client may not
// expect, and makes it look for mistakes of the client. names are names of
// [Difficulties]; without names the server has all of them. The seed determines which
// requests meet which difficulty: the same requests in the same order meet the same
// difficulties. Equal requests are refused or lost at most twice.
//
// Use one server for each client, and give each pet and message a text of its own:
// two equal creations look like one that is repeated.
func Difficult(seed uint64, names ...string) Option {
	return func(c *config) { c.difficult, c.seed, c.names = true, seed, names }
}
