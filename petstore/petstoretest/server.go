// Package petstoretest starts a server of the petstore contract for tests. Start
// with [New]:
//
//	srv := petstoretest.New(t)
//	pet, err := srv.Client.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, petstore.Once{})
package petstoretest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// Server is a running server.
type Server struct {
	URL    string           // the base address, such as http://127.0.0.1:34567/v1
	Key    string           // an API key that the server accepts
	Client *client.Client   // a client of the server, with Key
	Store  petstore.Service // what the server serves

	http *httptest.Server
}

// Option is a setting of [New] and [Start].
type Option func(*settings)

type settings struct{}

// New starts a server that ends with t.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server that runs until Close.
func Start(opts ...Option) (*Server, error) {
	store := memory.New(nil)
	s := &Server{Key: "petstoretest-key", Store: store}
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		if key != s.Key {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
		}
		return "tester", nil
	})
	s.http = httptest.NewServer(http.StripPrefix("/v1", httpapi.New(store, auth, &httpapi.Options{Messages: store})))
	s.URL = s.http.URL + "/v1"
	var err error
	s.Client, err = client.New(s.URL, s.Key, &client.Options{IdempotentServer: true})
	return s, err
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }
