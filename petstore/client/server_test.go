package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

const testKey = "the-API-key-of-the-tests"

var (
	ctx  = context.Background()
	rex  = petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold}
	none petstore.IdempotencyKey
)

// server stands in for a server, without a network.
type server func(*http.Request) (*http.Response, error)

func (f server) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client of a server at http://pets.test/v1.
func newClient(t *testing.T, o client.Options, f server) *client.Client {
	t.Helper()
	o.HTTPClient = &http.Client{Transport: f}
	c, err := client.New("http://pets.test/v1/", testKey, &o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var calls = map[string]func(context.Context, *client.Client) (any, error){
	"list":   func(ctx context.Context, c *client.Client) (any, error) { return c.ListPets(ctx, petstore.ListQuery{}) },
	"get":    func(ctx context.Context, c *client.Client) (any, error) { return c.GetPet(ctx, 7) },
	"create": func(ctx context.Context, c *client.Client) (any, error) { return c.CreatePet(ctx, rex, none) },
	"submit": func(ctx context.Context, c *client.Client) (any, error) { return c.SubmitMessage(ctx, "hi", none) },
}

// respond returns a server that responds with a body, and header fields in pairs.
func respond(status int, body string, header ...string) server {
	return func(r *http.Request) (*http.Response, error) {
		resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		for i := 0; i < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

// okay responds with success.
func okay(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/pets"):
		return respond(200, `[]`)(r)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		return respond(202, `{"id":"m","message":"hi","status":"queued","createdAt":"20261120T1230Z","more":[{}]}`)(r)
	}
	return respond(200, `{"id":7,"name":"Rex","categoryId":1,"status":"sold"}`)(r)
}

// refuse gets no connection, as http.Transport reports it.
func refuse(err error) server {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("pets.test:80")
		return nil, err
	}
}

var refused = refuse(io.ErrUnexpectedEOF)

// lost gets a connection that ends after the request.
func lost(r *http.Request) (*http.Response, error) {
	_, _ = refused(r)
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	return nil, io.EOF
}

// untraced is like lost, with a transport that reports no connections.
func untraced(*http.Request) (*http.Response, error) { return nil, io.EOF }

// cut closes the connection within the body.
func cut(status int, body string) server {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := respond(status, "")(r)
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), iotest.ErrReader(io.ErrUnexpectedEOF)))
		return resp, err
	}
}

// switching responds with another protocol. To read its body panics; of a real one it waits for
// the server.
func switching(r *http.Request) (*http.Response, error) {
	resp, err := respond(101, "")(r)
	resp.Body = io.NopCloser(nil)
	return resp, err
}
