// Package petstoretest starts a server of the petstore contract for tests of clients. Start
// with [New]:
//
//	srv := petstoretest.New(t, nil)
//	pet, err := srv.Client.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.IdempotencyKey{})
//
// With Options.Difficult the server does what the contract allows and a client may not expect.
// It finds mistakes of the client. A whole test is in examples/list. Other programs serve a
// [Handler].
package petstoretest

import (
	"net/http/httptest"
	"testing"
	"time"

	"example.com/animalstore/petstore/client"
)

// Options are the settings of [New] and [NewHandler]. The zero value and nil are a server with
// an empty store in memory.
type Options struct {
	// Difficult makes the server difficult, as docs/clients.md says. Use one server for each
	// client, and a name or text for each pet and message that no other has: two equal
	// creations look like one that is repeated.
	Difficult bool

	// Seed determines which requests fail, for the same requests in the same order.
	Seed uint64
}

// Server is a running server.
type Server struct {
	URL    string         // the base address, such as http://127.0.0.1:34567/v1
	Key    string         // the API key that the server accepts
	Client *client.Client // calls the server, with RetryWrites and short waits

	handler *Handler
}

// New starts a server that stops when t ends. Then each mistake that the server has found is an
// error of t. opts may be nil.
func New(t testing.TB, opts *Options) *Server {
	t.Helper()
	h := NewHandler(opts)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.Close()
		for _, f := range h.Summary().Findings {
			t.Error(f)
		}
	})
	c, _ := client.New(srv.URL+basePath, Key, &client.Options{RetryWrites: true, MinBackoff: 5 * time.Millisecond}) // all are valid
	return &Server{srv.URL + basePath, Key, c, h}
}

// Summary returns what the server has seen of its clients so far.
func (s *Server) Summary() Summary { return s.handler.Summary() }
