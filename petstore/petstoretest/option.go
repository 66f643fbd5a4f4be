package petstoretest

import (
	"context"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// Option is a setting of [New] and [Start].
type Option func(*config)

type config struct {
	base, addr string
	keys       Keys
	store      petstore.Service // nil: one in memory
	now        func() time.Time // nil: time.Now
	pets       []petstore.NewPet
	tls        bool

	difficult bool
	seed      uint64
	names     []string // of difficulties
}

// Base sets the path of the base address, such as /api/v1. "": there is none.
// The default is /v1.
func Base(path string) Option {
	return func(c *config) { c.base = strings.TrimRight("/"+strings.TrimLeft(path, "/"), "/") }
}

// Listen sets the host and port on which the server listens. The default is a free
// port of 127.0.0.1.
func Listen(addr string) Option { return func(c *config) { c.addr = addr } }

// Store sets the store that the server serves. If s is a [petstore.Messages], the
// server also accepts messages. The default is an empty store in memory.
func Store(s petstore.Service) Option { return func(c *config) { c.store = s } }

// Pets adds pets to the store before the server starts.
func Pets(pets ...petstore.NewPet) Option {
	return func(c *config) { c.pets = append(c.pets, pets...) }
}

// Now sets the clock of the default store, for example to one that does not
// advance. The default is time.Now.
func Now(now func() time.Time) Option { return func(c *config) { c.now = now } }

// TLS makes the server use TLS and HTTP/2. [Server.Client] and [Server.HTTP] trust
// its certificate.
func TLS() Option { return func(c *config) { c.tls = true } }

// Accounts sets the API keys that the server accepts in addition to
// [Server.Key], which belongs to the account "tester".
func Accounts(keys Keys) Option {
	return func(c *config) {
		for key, account := range keys {
			c.keys[key] = account
		}
	}
}

// Keys maps API keys to their accounts. It is an httpapi.Authenticator.
type Keys map[string]string

// Authenticate implements httpapi.Authenticator.
func (k Keys) Authenticate(_ context.Context, key string) (string, error) {
	if account, ok := k[key]; ok {
		return account, nil
	}
	return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
}

// defaultKey has letters of both cases and other characters, as real keys do.
const defaultKey = "Petstore_Test-Key0123456789abcXYZ"

// Difficult makes the server do what the contract allows and a client may not
// expect, and makes it watch the client. names are names of [Difficulties]; without
// names the server has all of them. If some exclude each other, such as two orders
// of a list, the seed chooses one. The seed also determines which requests meet
// which difficulty: the same requests in the same order meet the same difficulties.
//
// No request is refused or lost more than twice in a row.
func Difficult(seed uint64, names ...string) Option {
	return func(c *config) { c.difficult, c.seed, c.names = true, seed, names }
}
