package petstoretest

import (
	"errors"
	"fmt"
	"net/http"
	"path"

	"example.com/animalstore/petstore"
)

// Options are the settings of [New] and [Start]. The zero value and nil are ready for use.
type Options struct {
	// Addr is the host and port on which the server listens. "": a free port of
	// 127.0.0.1.
	Addr string

	// Store is the store that the server serves. If it is a [petstore.Messages], the
	// server also accepts messages. nil: an empty store in memory.
	Store petstore.Service

	// Handler serves the requests instead of a Store: your own, as your program mounts
	// it, with its own store, rules and keys, so that your clients meet these. It must
	// honour Idempotency-Key, as the handlers of this module do. It needs Key, and Prefix
	// if it is not mounted at /v1. nil: the handler of this module, with Store.
	//
	// To judge the handler itself, use package conformance/conformancetest.
	Handler http.Handler

	// Prefix is the path before /pets, such as /api/v1. "": /v1. "/": there is none.
	Prefix string

	// Key is an API key that Handler accepts. Without a Handler it is any key; "": one
	// with letters of both cases and other characters, as real keys have.
	Key string

	// Middleware wraps all that the server does, such as with a log or the header fields of
	// CORS. nil: nothing does.
	Middleware func(http.Handler) http.Handler

	// Difficult makes the server difficult. nil: it is not.
	Difficult *Difficulty
}

// Difficulty makes a server do what the contract allows and a client may not expect, and
// look for mistakes of the client. Equal requests are refused or lost at most twice.
//
// Use one server for each client, and give each pet and message a text of its own:
// two equal creations look like one that is repeated.
type Difficulty struct {
	// Seed determines which requests meet which difficulty: the same requests in the
	// same order meet the same difficulties.
	Seed uint64

	// Names are the names of difficulties, as in docs/clients.md. Without names: all, but with
	// a Handler not ids, which changes IDs only in the operations of the contract.
	// short-pages needs cursors of [petstore.CursorAfter].
	Names []string
}

// complete returns o with its defaults filled in.
func (o *Options) complete() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Prefix == "" {
		c.Prefix = "/v1"
	}
	if c.Prefix == "/" {
		c.Prefix = ""
	}
	switch {
	case c.Handler != nil && c.Store != nil:
		return c, errors.New("petstoretest: Options has a Handler and a Store; a Handler has a store of its own")
	case c.Handler != nil && c.Key == "":
		return c, errors.New("petstoretest: Options has a Handler without a Key that it accepts")
	case c.Prefix != "" && (c.Prefix[0] != '/' || path.Clean(c.Prefix) != c.Prefix):
		return c, fmt.Errorf("petstoretest: Options.Prefix must begin with a slash and not end with one, such as /api/v1, got %q", c.Prefix)
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Key == "" {
		c.Key = "Petstore_Test-Key0123456789abcXYZ"
	}
	return c, nil
}
