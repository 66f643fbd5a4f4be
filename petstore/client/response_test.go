package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// sameTime compares times with their zones.
var sameTime = cmp.Comparer(func(a, b time.Time) bool { return a == b })

// The client accepts every response of a conformant server, and a message without a time.
func TestConforming(t *testing.T) {
	at := func(time string) roundTripper {
		return respond(202, `{"id":"m","message":"hi","status":"queued","createdAt":"`+time+`"}`)
	}
	noon := petstore.Message{ID: "m", Text: "hi", Status: "queued", CreatedAt: time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)}
	untimed := noon
	untimed.CreatedAt = time.Time{}
	for _, tt := range []struct {
		call   string
		server roundTripper
		want   any
	}{
		{"get", respond(200, `{"id":7,"name":"Rex","categoryId":1,"status":null}`, "Content-Type", `Text/Plain; charset="x"`),
			petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 1}}},
		{"bare", respond(201, `{"id":7,"name":"Rex","categoryId":1,"status":"available"}`), // a default status
			petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.StatusAvailable}}},
		{"submit", respond(299, `{"createdAt":"2026-11-20T13:30:00.000+01:00","status":"sent","message":"hi","id":"","more":[]}`),
			petstore.Message{Text: "hi", Status: "sent", CreatedAt: time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)}},
		{"submit", at("2026-11-20T13:30:00.000+0100"), noon},
		{"submit", at("2026-11-20T12:30:00+00"), noon},
		{"submit", at("2026-11-20t12:30:00.000000z"), noon},
		{"submit", at("2026-11-20T12:30Z"), untimed},
		{"submit", at("2026-W47-5T12:30:00Z"), untimed},
		{"submit", at("2026-324T12:30:00Z"), untimed},
		{"submit", respond(202, `{"id":"m","message":"hi","status":"queued"}`), untimed},
	} {
		got, err := calls[tt.call](ctx, newClient(t, nil, tt.server))
		if diff := cmp.Diff(tt.want, got, sameTime); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", tt.call, err, diff)
		}
	}
}

// A response that breaks the contract is an error that says what is wrong.
func TestBroken(t *testing.T) {
	const rest = `"name":"Rex","categoryId":1}`
	for _, tt := range []struct {
		call   string
		status int
		body   string
		want   string
	}{
		{"get", 200, `{` + rest, "id: is missing"},
		{"get", 200, `{"id":"7",` + rest, "id: must not be a JSON value of the kind string"},
		{"get", 200, `{"id":9223372036854775808,` + rest, "id: "},
		{"get", 200, `{"id":7.0,` + rest, "id: "},
		{"get", 200, `{"id":7,"name":null,"categoryId":1}`, "name: is missing"},
		{"get", 200, `{"id":7,"name":"Rex"}`, "categoryId: is missing"},
		{"get", 200, `{"id":7,"status":"Sold",` + rest, "status: must be one of available, pending, sold"},
		{"get", 200, `[]`, "body: must not be a JSON value of the kind ["},
		{"list", 200, `null`, "body: must be an array, not null"},
		{"list", 200, `[{"id":7,` + rest + `,{"id":true,` + rest + `]`, "1/id: must not be a JSON value of the kind true"},
		{"list", 200, `[null]`, "0/id: is missing"},
		{"list", 200, strings.Repeat(" ", 16<<20) + "[]", "body: must have at most 16777216 bytes"},
		{"list", 201, `[]`, "status: must be 200, got 201"},
		{"get", 200, `{"id":2,` + rest, "id: must be 7, got 2"},
		{"sold", 200, `[{"id":7,` + rest + `]`, `0/status: must be "sold", got ""`},
		{"create", 200, `{"id":7,` + rest, "status: must be 201, got 200"},
		{"create", 201, "", "body: not valid JSON"},
		{"create", 201, `{"id":1.0,` + rest, "id: "},
		{"create", 201, `{"id":7,"name":"Rex","categoryId":1e0}`, "categoryId: "},
		{"create", 201, `{"id":7,"id":7,` + rest, "body: not valid JSON"},
		{"create", 201, `{"id":7,"more":"\ud800",` + rest, "body: not valid JSON"},
		{"create", 201, `{"id":7,"name":"Max","categoryId":1}`, `body: must be the pet that was sent, {"id":7,"name":"Rex","categoryId":1,"status":"sold"}`},
		{"create", 201, `{"id":7,"name":"Rex","categoryId":2}`, `body: must be the pet that was sent, {"id":7,"name":"Rex"`},
		{"create", 201, `{"id":7,"name":"Rex","categoryId":1}`, `body: must be the pet that was sent, {"id":7,"name":"Rex"`},
		{"submit", 202, `{}`, "id: is missing"},
		{"submit", 202, `{"id":"m"}`, "message: is missing"},
		{"submit", 202, `{"id":"m","message":"hi"}`, "status: is missing"},
		{"submit", 202, `{"id":"m","message":"ho","status":"queued","createdAt":"2026-11-20T12:30:00Z"}`, `message: of the message "m": is not the one that was sent`},
		{"submit", 202, `{"createdAt":1700000000}`, "createdAt: must not be"},
	} {
		_, err := calls[tt.call](ctx, newClient(t, nil, respond(tt.status, tt.body)))
		write := tt.call == "create" || tt.call == "submit"
		cause, ok := errors.AsType[*client.ResponseError](err)
		want := "the response breaks the contract: " + tt.want
		switch {
		case tt.call == "create" && tt.status == 201:
			want = "the server created the pet, but " + want
		case tt.call == "submit":
			want = "the server accepted the message, but " + want
		}
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.HasPrefix(err.Error(), want) || !ok ||
			cause.Status != tt.status || errors.Is(err, client.ErrUnknownOutcome) != write {
			t.Errorf("%s: the error is %v, want %s", tt.call, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status        int
		body, message string
	}{
		{400, `{"status":400.0,"message":"limit: too low","code":"internal","more":[]}`, "limit: too low"},
		{404, "<h1>Not Found</h1>", "the server responded with 404 Not Found"},
		{599, `{"code":5,"message":"no"}`, "the server responded with 599 "},
		{304, "", `the server redirects to "", and the client does not follow; use a base URL that is not redirected`},
		{400, `{"message":"` + strings.Repeat("ä", 1000) + `"}`, strings.Repeat("ä", 510) + "..."},
	} {
		_, err := newClient(t, nil, respond(tt.status, tt.body)).ListPets(ctx, petstore.ListQuery{})
		if e, ok := errors.AsType[*petstore.Error](err); !ok || e.Message != tt.message {
			t.Errorf("%d: the error is %v, want %q", tt.status, err, tt.message)
		}
		if cause, ok := errors.AsType[*client.ResponseError](err); !ok || len(cause.Body) > 1024 || len(cause.Message) > 1024 {
			t.Errorf("%d: the cause is %+v", tt.status, cause)
		}
	}
}

func TestResponseError(t *testing.T) {
	const body = `{"code":"not_found","message":"no such pet","status":404}`
	_, err := newClient(t, nil, cutOff(respond(404, body, "X-Request-ID", "r-1"))).GetPet(ctx, 7)
	got, _ := errors.AsType[*client.ResponseError](err)
	want := &client.ResponseError{URL: "http://pets.test/v1/pets/7", Status: 404, RequestID: "r-1", Body: body[:1]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const text = `the server responded with 404 Not Found: http://pets.test/v1/pets/7: 404 Not Found, X-Request-ID "r-1", `
	if err.Error() != text+`body "{"` {
		t.Errorf("the error is\n%v\nwant\n%s", err, text)
	}
	_, err = newClient(t, nil, respond(404, body, "X-Request-ID", "r-1")).GetPet(ctx, 7)
	if want := strings.Replace(text, "the server responded with 404 Not Found", "no such pet", 1) + `code "not_found"`; err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
}
