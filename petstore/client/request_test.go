package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// A request has what the contract asks for, at every base URL.
func TestRequest(t *testing.T) {
	var got []string
	c := newClient(t, &client.Options{MessagesURL: "https://messages.test/m/v1/"}, func(r *http.Request) (*http.Response, error) {
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.UserAgent() != "animalstore-client" {
			t.Errorf("the header is %v", r.Header)
		}
		return respond(404, "")(r)
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

// Every creation has an Idempotency-Key, and different creations have different keys.
func TestIdempotencyKey(t *testing.T) {
	var field string
	c := newClient(t, nil, func(r *http.Request) (*http.Response, error) {
		field = sentKey(r)
		return respond(400, "")(r)
	})
	seen := map[string]bool{}
	long := strings.Repeat("x", 255)
	for _, tt := range []struct {
		once petstore.Once
		want string // "": another one for each of them, and for each operation
	}{
		{petstore.Once{Key: `a"b\c`}, `"a\"b\\c"`},
		{petstore.Once{Key: long}, `"` + long + `"`},
		{petstore.Once{}, ""},
		{petstore.Once{}, ""},
		{petstore.Once{Scope: "a", Key: "k"}, ""},
		{petstore.Once{Scope: "ak"}, ""},
		{petstore.Once{Key: "two words"}, ""},
		{petstore.Once{Key: long + "x"}, ""},
	} {
		for _, send := range []func(){func() { c.CreatePet(ctx, rex, tt.once) }, func() { c.SubmitMessage(ctx, "hi", tt.once) }} {
			send()
			if tt.want != "" && field != tt.want || tt.want == "" && (seen[field] || len(field) < 20 || len(field) > 257) {
				t.Errorf("with %+v the key is %s, want %s", tt.once, field, tt.want)
			}
			seen[field] = true
		}
	}
}
