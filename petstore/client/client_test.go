package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// A client behaves like a store, as far as HTTP allows. The queue, the counts and
// Close are those of the server's store, so the tests Queue, QueueCapacity and
// Closed check what the client did there. Two tests check nothing: Encoded, because
// a client is not a petstore.EncodedReader, and QueueCapacity, which needs a strict
// store. Get, Once, MessagesOnce and Queue end where they would open the store again.
func TestStore(t *testing.T) {
	type shown struct {
		*client.Client
		petstore.Queue
		petstore.Statistics
		io.Closer
	}
	storagetest.Run(t, storagetest.Target{
		Volatile: true,
		Open: func(t *testing.T, _ string, o storagetest.Options) petstore.Service {
			store := memory.New(&memory.Options{Now: o.Now, QueueCapacity: o.QueueCapacity})
			srv := httptest.NewServer(handler(store))
			t.Cleanup(srv.Close)
			c := newClient(t, srv.URL+"/v1", &client.Options{HTTPClient: srv.Client(), Tries: 1})
			return shown{c, store, store, store}
		},
	})
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		base, key string
		opts      *client.Options
		want      string // in the error; "": there is none
	}{
		{base: "http://127.0.0.1:8080", key: "k"},
		{base: "https://pets.example/v1/", key: "k"},
		{base: "HTTPS://[::1]/a%2Fb/v1", key: "k~!"},
		{base: "http://h/v1", key: "k", opts: &client.Options{MessagesURL: "http://m/v1"}},
		{base: "", key: "k", want: "base URL: must be an absolute URL"},
		{base: "/v1", key: "k", want: "must be an absolute URL"},
		{base: "pets.example/v1", key: "k", want: "must be an absolute URL"},
		{base: "127.0.0.1:8080", key: "k", want: "must be an absolute URL"},
		{base: "ftp://h/v1", key: "k", want: "with http or https"},
		{base: "http://:8080/v1", key: "k", want: "a host"},
		{base: "http://u:secret@h/v1", key: "k", want: "no user"},
		{base: "http://u:sec ret@h/v1\n", key: "k", want: "must be an absolute URL"},
		{base: "http://h/v1?a=b", key: "k", want: "no query"},
		{base: "http://h/v1?", key: "k", want: "no query"},
		{base: "http://h/v1#a", key: "k", want: "no fragment"},
		{base: "http://h/v1#", key: "k", want: "no fragment"},
		{base: "http://h", key: "", want: "API key: must be one or more"},
		{base: "http://h", key: "secret\n", want: "without spaces and line breaks"},
		{base: "http://h", key: "secret\r\nX: y", want: "API key: must be"},
		{base: "http://h", key: "secrét", want: "API key: must be"},
		{base: "http://h", key: "k", opts: &client.Options{MessagesURL: "m/v1"}, want: "MessagesURL: must be"},
	} {
		c, err := client.New(tt.base, tt.key, tt.opts)
		if (c == nil) != (err != nil) || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%q, %q) returned %v, want %q", tt.base, tt.key, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "sec") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
}

// No error contains the API key, even if the server sends it back.
func TestKeyIsSecret(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"error body": response(401, `{"code":"`+testKey+`","message":"`+testKey+` is unknown","status":401}`, "X-Request-ID", testKey),
		"text":       response(503, strings.Repeat("x", 1010)+testKey),
		"no JSON":    response(200, testKey),
		"broken":     response(200, `[{"id":1,"name":"","categoryId":1,"status":"`+testKey+`"}]`),
		"redirect":   response(302, "", "Location", "http://other.test/"+testKey),
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(h)
			defer srv.Close()
			c := newClient(t, srv.URL, &client.Options{Tries: 1})
			_, listErr := c.ListPets(ctx, petstore.ListQuery{})
			_, getErr := c.GetPet(ctx, 1)
			_, createErr := c.CreatePet(ctx, rex, none)
			for _, err := range []error{listErr, getErr, createErr} {
				if err == nil {
					t.Fatal("no error")
				}
				for ; err != nil; err = errors.Unwrap(err) {
					if s := fmt.Sprintf("%v %+v", err, err); strings.Contains(s, testKey) {
						t.Errorf("the key is in the error %s", s)
					}
				}
			}
		})
	}
}
