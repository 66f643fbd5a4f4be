package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

const testKey = "the-API-key-of-the-tests"

var (
	ctx  = context.Background()
	rex  = petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold}
	none petstore.IdempotencyKey
)

// roundTripper stands in for a server, without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client of a server at http://pets.test/v1. opts may be nil.
func newClient(t *testing.T, opts *client.Options, f roundTripper) *client.Client {
	t.Helper()
	var o client.Options
	if opts != nil {
		o = *opts
	}
	o.HTTPClient = &http.Client{Transport: f}
	c, err := client.New("http://pets.test/v1/", testKey, &o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// calls are the calls that the tests make, by their operations.
var calls = map[string]func(context.Context, *client.Client) (any, error){
	"list":   func(ctx context.Context, c *client.Client) (any, error) { return c.ListPets(ctx, petstore.ListQuery{}) },
	"get":    func(ctx context.Context, c *client.Client) (any, error) { return c.GetPet(ctx, 7) },
	"create": func(ctx context.Context, c *client.Client) (any, error) { return c.CreatePet(ctx, rex, none) },
	"bare": func(ctx context.Context, c *client.Client) (any, error) {
		return c.CreatePet(ctx, petstore.NewPet{Name: "Rex", CategoryID: 1}, none)
	},
	"sold": func(ctx context.Context, c *client.Client) (any, error) {
		return c.ListPets(ctx, petstore.ListQuery{Status: petstore.StatusSold})
	},
	"submit": func(ctx context.Context, c *client.Client) (any, error) { return c.SubmitMessage(ctx, "hi", none) },
}

// respond returns a server that responds with a body, and header fields in pairs.
func respond(status int, body string, header ...string) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		for i := 0; i < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

// okay is a server that responds with success.
func okay(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/messages"):
		return respond(202, `{"id":"m","message":"hi","status":"queued","createdAt":"2026-11-20T12:30:00Z"}`)(r)
	case r.Method == "POST":
		return respond(201, `{"id":7,"name":"Rex","categoryId":1,"status":"sold"}`)(r)
	case strings.HasSuffix(r.URL.Path, "/pets"):
		return respond(200, `[]`)(r)
	}
	return respond(200, `{"id":7,"name":"Rex","categoryId":1}`)(r)
}

// switched is a server that responds with 101. The body is a connection, which may never
// end: a test does not end unless the client closes it without reading.
func switched(r *http.Request) (*http.Response, error) {
	body, server := io.Pipe()
	go server.Write([]byte("x"))
	return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: body, Request: r}, nil
}

// refused is a server to which no connection can be opened.
func refused(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// cut is a server that closes the connection after a request.
func cut(*http.Request) (*http.Response, error) { return nil, io.EOF }

// cutOff returns a server that closes the connection within the body of a response of
// server.
func cutOff(server roundTripper) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := server(r)
		resp.Body = io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(resp.Body)))
		return resp, err
	}
}

// script is a server that responds to each request with the next step, and to
// further requests with the last one.
type script struct {
	steps []roundTripper
	times []time.Time
	keys  []string
}

func (s *script) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	n := len(s.times)
	s.times = append(s.times, time.Now())
	s.keys = append(s.keys, sentKey(r))
	return s.steps[min(n, len(s.steps)-1)](r)
}

// sentKey returns the Idempotency-Key of a request that a roundTripper receives.
// The name of the field is in lower case so that net/http does not find it.
func sentKey(r *http.Request) string {
	name := "idempotency-key"
	return strings.Join(r.Header[name], "|")
}
