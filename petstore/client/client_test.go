package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/testserver"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// A client behaves like a store, as far as HTTP allows. The queue, the counts and
// Close are those of the server's store, so the tests Queue and Closed check what the
// client did there. The store is not opened again.
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
			h := httpapi.New(store, apikey.Static{testKey: "tester"}, &httpapi.Options{Messages: store, MaxBodyBytes: 4 << 20})
			srv := httptest.NewServer(http.StripPrefix("/v1", h))
			t.Cleanup(srv.Close)
			c, err := client.New(srv.URL+"/v1", testKey, &client.Options{HTTPClient: srv.Client(), MaxAttempts: 1})
			if err != nil {
				t.Fatal(err)
			}
			return shown{c, store, store, store}
		},
	})
}

// No member of a message is lost on its way. TestStore shows the same for pets.
func TestMessageMembers(t *testing.T) {
	store := testserver.NewDouble(nil)
	want := storagetest.SampleMessage()
	store.DoSubmitMessage = func(context.Context, string, petstore.IdempotencyKey) (petstore.Message, error) { return want, nil }
	srv := httptest.NewServer(httpapi.New(nil, testserver.Authenticator, &httpapi.Options{Messages: store}))
	defer srv.Close()
	c, err := client.New(srv.URL, testserver.Key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.SubmitMessage(t.Context(), want.Text, none); got != want || err != nil {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		base, key, messages string
		want                string // in the error; "": there is none
	}{
		{base: "http://127.0.0.1:8080", key: "k"},
		{base: "HTTPS://[::1]/a%2Fb/v1/", key: "k~!", messages: "http://m/v1"},
		{base: "http://h//a/../v1//", key: "k"}, // is http://h/v1
		{base: "/v1", key: "k", want: "base URL: must be an absolute URL"},
		{base: "ftp://h/v1", key: "k", want: "with http or https"},
		{base: "http://:8080/v1", key: "k", want: "a host"},
		{base: "http://u:secret@h/v1", key: "k", want: "no user"},
		{base: "http://u:sec ret@h/v1\n", key: "k", want: "must be an absolute URL"},
		{base: "http://h/v1?", key: "k", want: "no query"},
		{base: "http://h/v1#", key: "k", want: "no fragment"},
		{base: "http://h", key: "", want: "API key: must be one or more"},
		{base: "http://h", key: "sec ret", want: "without spaces and line breaks"},
		{base: "http://h", key: "secrét", want: "API key: must be"},
		{base: "http://h", key: "k", messages: "m/v1", want: "MessagesURL: must be"},
	} {
		c, err := client.New(tt.base, tt.key, &client.Options{MessagesURL: tt.messages})
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
	for name, server := range map[string]roundTripper{
		"net/http": func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("malformed HTTP status code %q", testKey)
		},
		"long status": respond(200, `[{"id":1,"name":"","categoryId":1,"status":"`+strings.Repeat("x", 30)+testKey+`"}]`),
		"next URL": func(r *http.Request) (*http.Response, error) {
			if r.URL.RawQuery == "cursor="+testKey {
				return respond(500, "")(r)
			}
			return respond(200, "[]", "Link", "<?cursor="+testKey+`>; rel="next"`)(r)
		},
		"error body": respond(401, `{"code":"`+testKey+`","message":"`+testKey+` is unknown","status":401}`, "X-Request-ID", testKey),
		"text":       respond(503, strings.Repeat("x", 1010)+testKey),
		"broken":     respond(200, `[{"id":1,"name":"","categoryId":1,"status":"`+testKey+`"}]`),
		"link":       respond(200, `[]`, "Link", `<http://[/`+testKey+`>; rel="next"`),
		"redirect":   respond(302, "", "Location", "http://other.test/"+testKey),
	} {
		var err error
		for _, err = range newClient(t, &client.Options{MaxAttempts: 1}, server).All(ctx, petstore.ListQuery{Status: petstore.StatusSold}) {
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if s := fmt.Sprintf("%v %+v", err, err); strings.Contains(s, testKey) {
				t.Errorf("%s: the key is in the error %s", name, s)
			}
		}
	}
}
