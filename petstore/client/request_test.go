package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// A request has what the contract asks for, at every base URL.
func TestRequest(t *testing.T) {
	var got []string
	c := offline(t, &client.Options{MessagesURL: "https://messages.test/m/v1/"}, func(r *http.Request) (*http.Response, error) {
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.UserAgent() != "animalstore-client" {
			t.Errorf("the header is %v", r.Header)
		}
		return handled(response(404, ""))(r)
	})
	c.ListPets(ctx, petstore.ListQuery{})
	c.ListPets(ctx, petstore.ListQuery{Limit: 7, Status: petstore.StatusSold})
	c.GetPet(ctx, -1<<63)
	c.CreatePet(ctx, petstore.NewPet{Name: "\"ä\x00", CategoryID: 1<<63 - 1}, none)
	c.CreatePet(ctx, rex, none)
	c.SubmitMessage(ctx, "hi", none)
	want := []string{
		"GET http://pets.test/v1/pets?limit=20  ",
		"GET http://pets.test/v1/pets?limit=7&status=sold  ",
		"GET http://pets.test/v1/pets/-9223372036854775808  ",
		`POST http://pets.test/v1/pets application/json {"name":"\"ä\u0000","categoryId":9223372036854775807}`,
		`POST http://pets.test/v1/pets application/json {"name":"Rex","categoryId":1,"status":"sold"}`,
		`POST https://messages.test/m/v1/messages application/json {"message":"hi"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every creation has an Idempotency-Key, and different creations have different
// keys.
func TestIdempotencyKey(t *testing.T) {
	var field string
	c := offline(t, nil, func(r *http.Request) (*http.Response, error) {
		field = sentKey(r)
		return handled(response(400, ""))(r)
	})
	for key, want := range map[string]string{
		"order-7":                `"order-7"`,
		`a"b\c`:                  `"a\"b\\c"`,
		strings.Repeat("x", 255): `"` + strings.Repeat("x", 255) + `"`,
	} {
		if c.CreatePet(ctx, rex, petstore.Once{Key: key}); field != want {
			t.Errorf("the key %q was sent as %s, want %s", key, field, want)
		}
	}
	seen := map[string]petstore.Once{}
	for _, once := range []petstore.Once{
		{},
		{},
		{Scope: "a"},
		{Scope: "a", Key: "k"},
		{Scope: "ak", Key: "k"},
		{Scope: "a", Key: "kk"},
		{Key: "two words"},
		{Key: "ä"},
		{Key: strings.Repeat("x", 256)},
	} {
		for what, call := range map[string]func(){
			"pet":     func() { c.CreatePet(ctx, rex, once) },
			"message": func() { c.SubmitMessage(ctx, "hi", once) },
		} {
			call()
			if other, twice := seen[field]; twice {
				t.Errorf("a %s with %+v has the key %s, as %+v had", what, once, field, other)
			}
			if n := len(field); n < 20 || n > 257 {
				t.Errorf("a %s with %+v has the key %s", what, once, field)
			}
			seen[field] = once
		}
	}
}

// The client does not follow redirects, and does not change the caller's
// http.Client.
func TestRedirect(t *testing.T) {
	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(response(status, "", "Location", other.URL+"/v2/pets?limit=20"))
		defer srv.Close()
		own := &http.Client{}
		c := newClient(t, srv.URL, &client.Options{HTTPClient: own})
		_, listErr := c.ListPets(ctx, petstore.ListQuery{})
		_, createErr := c.CreatePet(ctx, rex, none)
		for i, err := range []error{listErr, createErr} {
			if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), other.URL+"/v2/pets") || !strings.Contains(err.Error(), "as the base URL") ||
				errors.Is(err, client.ErrUnknownOutcome) != (i == 1 && status < 307) {
				t.Errorf("%d: the error is %v", status, err)
			}
		}
		if own.CheckRedirect != nil {
			t.Error("the caller's http.Client was changed")
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}
