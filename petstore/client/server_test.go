package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

const testKey = "the-API-key-of-the-tests"

var (
	ctx  = context.Background()
	rex  = petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.StatusSold}
	none petstore.Once
)

// newClient returns a client of the server at baseURL. opts may be nil.
func newClient(t *testing.T, baseURL string, opts *client.Options) *client.Client {
	t.Helper()
	c, err := client.New(baseURL, testKey, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// roundTripper stands in for a server, without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// offline returns a client of a server without a network. opts may be nil.
func offline(t *testing.T, opts *client.Options, f roundTripper) *client.Client {
	t.Helper()
	var o client.Options
	if opts != nil {
		o = *opts
	}
	o.HTTPClient = &http.Client{Transport: f}
	return newClient(t, "http://pets.test/v1", &o)
}

// handled returns what h responds.
func handled(h http.Handler) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		if r.Body == nil {
			r.Body = http.NoBody // as a server does
		}
		h.ServeHTTP(rec, r)
		resp := rec.Result()
		resp.Request = r
		return resp, nil
	}
}

// response returns a response with a body, and header fields in pairs.
func response(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// raw sends bytes instead of a response.
func raw(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(conn, s)
			conn.Close()
		}
	}
}

func status(code int, header ...string) roundTripper { return handled(response(code, "", header...)) }

// okay is a server that responds with success.
func okay(r *http.Request) (*http.Response, error) {
	switch {
	case r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/messages"):
		return handled(response(202, `{"id":"m","message":"hi","status":"queued","createdAt":"2026-11-20T12:30:00Z"}`))(r)
	case r.Method == "POST":
		return handled(response(201, `{"id":7,"name":"Rex","categoryId":1}`))(r)
	case strings.HasSuffix(r.URL.Path, "/pets"):
		return handled(response(200, `[]`))(r)
	}
	return handled(response(200, `{"id":7,"name":"Rex","categoryId":1}`))(r)
}

// refused is a server to which no connection can be opened.
func refused(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// cut is a server that closes the connection after a request.
func cut(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
	}
	return nil, io.EOF
}

// cutOff is a server that closes the connection within the body of its response.
func cutOff(r *http.Request) (*http.Response, error) {
	resp, err := okay(r)
	resp.Body = io.NopCloser(iotest.TimeoutReader(iotest.OneByteReader(resp.Body)))
	return resp, err
}

// script is a server that responds to each request with the next step, and to
// further requests with the last one.
type script struct {
	steps   []roundTripper
	honours bool // responses say that the server honours Idempotency-Key
	times   []time.Time
	keys    []string
}

func (s *script) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if s.honours && err == nil {
			resp.Header.Set("Accept-Idempotency-Key", "?1")
		}
	}()
	if r.URL.RawQuery == "limit=1" { // the client asks whether the server honours Idempotency-Key
		return okay(r)
	}
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

// bubble runs a subtest that does not wait for the time to pass.
func bubble(t *testing.T, name string, f func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// handler serves the pets and messages of store under /v1.
func handler(store *memory.Store) http.Handler {
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		if key != testKey {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
		}
		return "tester", nil
	})
	return http.StripPrefix("/v1", httpapi.New(store, auth, &httpapi.Options{Messages: store, MaxBodyBytes: 4 << 20}))
}
