package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// The client accepts every response of a conformant server.
func TestConforming(t *testing.T) {
	for _, tt := range []struct {
		name, call string
		server     roundTripper
		want       string
	}{
		{"another media type", "get", respond(200, `{"id":7,"name":"Rex","categoryId":1}`, "Content-Type", `Text/Plain; charset="x"`), "{7 {Rex 1 }}"},
		{"a status of null", "get", respond(200, `{"id":7,"name":"Rex","categoryId":1,"status":null}`), "{7 {Rex 1 }}"},
		{"a default status", "create", respond(201, `{"id":7,"name":"Rex","categoryId":1,"status":"available"}`), "{7 {Rex 1 available}}"},
		{"a time with an offset", "submit", respond(299, `{"createdAt":"2026-11-20T13:30:00.000+01:00","status":"sent","message":"hi","id":"","more":[]}`),
			"{ hi sent 2026-11-20 12:30:00 +0000 UTC}"},
	} {
		got, err := calls[tt.call](ctx, newClient(t, nil, tt.server))
		if fmt.Sprint(got) != tt.want || err != nil {
			t.Errorf("%s: %v, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// A response that breaks the contract is an error that says what is wrong.
func TestBroken(t *testing.T) {
	const rest = `"name":"Rex","categoryId":1}`
	record := func(members string) roundTripper { return respond(202, `{"id":"m",`+members+`}`) }
	for _, tt := range []struct {
		call   string
		server roundTripper
		want   string
	}{
		{"get", respond(200, `{`+rest), "id: is missing"},
		{"get", respond(200, `{"id":"7",`+rest), "id: must not be a JSON value of the kind string"},
		{"get", respond(200, `{"id":9223372036854775808,`+rest), "id: "},
		{"get", respond(200, `{"id":7,"name":null,"categoryId":1}`), "name: is missing"},
		{"get", respond(200, `{"id":7,"name":"Rex"}`), "categoryId: is missing"},
		{"get", respond(200, `{"id":7,"status":"Sold",`+rest), "status: must be one of available, pending, sold"},
		{"get", respond(200, `{"id":7,"id":7,`+rest), "body: not valid JSON"},
		{"get", respond(200, `[]`), "body: must not be a JSON value of the kind ["},
		{"list", respond(200, `null`), "body: must be an array, not null"},
		{"list", respond(200, `[null]`), "0/id: is missing"},
		{"list", respond(200, `[{"id":7,`+rest+`,{"id":true,`+rest+`]`), "1/id: must not be a JSON value of the kind true"},
		{"list", respond(200, strings.Repeat(" ", 16<<20)+"[]"), "body: must have at most 16777216 bytes"},
		{"list", respond(201, `[]`), "status: must be 200, got 201"},
		{"create", respond(200, `{"id":7,`+rest), "status: must be 201, got 200"},
		{"create", respond(201, ""), "body: not valid JSON"},
		{"submit", respond(202, `{}`), "id: is missing"},
		{"submit", record(`"status":"queued","createdAt":"2026-11-20T12:30:00Z"`), "message: is missing"},
		{"submit", record(`"message":"hi","createdAt":"2026-11-20T12:30:00Z"`), "status: is missing"},
		{"submit", record(`"message":"hi","status":"queued"`), "createdAt: is missing"},
		{"submit", record(`"message":"hi","status":"queued","createdAt":"2026-11-20T12:30:00"`), "createdAt: "},
	} {
		_, err := calls[tt.call](ctx, newClient(t, nil, tt.server))
		write := tt.call == "create" || tt.call == "submit"
		cause, ok := errors.AsType[*client.ResponseError](err)
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.HasPrefix(err.Error(), "the response breaks the contract: "+tt.want) || !ok ||
			cause.Status/100 != 2 || errors.Is(err, client.ErrUnknownOutcome) != write {
			t.Errorf("%s: the error is %v, want %s", tt.call, err, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	body := func(status int, code, message string) roundTripper {
		return respond(status, fmt.Sprintf(`{"status":%d.0,"message":%q,"code":%q,"more":[]}`, status, message, code))
	}
	for _, tt := range []struct {
		name    string
		server  roundTripper
		code    petstore.Code
		message string
	}{
		{"400 with the code of another", body(400, "internal", "limit: too low"), petstore.CodeInvalid, "limit: too low"},
		{"401 without a body", respond(401, ""), petstore.CodeUnauthorized, "the server responded with 401 Unauthorized"},
		{"403", respond(403, ""), petstore.CodeUnauthorized, "the server responded with 403 Forbidden"},
		{"404 in HTML", respond(404, "<h1>Not Found</h1>"), petstore.CodeNotFound, "the server responded with 404 Not Found"},
		{"409", body(409, "duplicate", "no"), petstore.CodeInvalid, "no"},
		{"422", body(422, "idempotency_mismatch", "other value"), petstore.CodeMismatch, "other value"},
		{"422 for another reason", body(422, "unprocessable", "no"), petstore.CodeInvalid, "no"},
		{"429", respond(429, "slow down"), petstore.CodeUnavailable, "the server responded with 429 Too Many Requests"},
		{"500", body(500, "invalid", "internal error"), petstore.CodeInternal, "internal error"},
		{"503", body(503, "", "the queue is full"), petstore.CodeUnavailable, "the queue is full"},
		{"507", respond(507, ""), petstore.CodeFull, "the server responded with 507 Insufficient Storage"},
		{"599", respond(599, `{"code":5,"message":"no"}`), petstore.CodeInternal, "the server responded with 599 "},
		{"304", respond(304, ""), petstore.CodeInternal, `the server redirects to "", and the client does not follow; use the part before /pets as the base URL`},
		{"a long message", body(400, "", strings.Repeat("ä", 1000)), petstore.CodeInvalid, strings.Repeat("ä", 510) + "..."},
		{"a body that is cut", cutOff(respond(400, "{}")), petstore.CodeInvalid, "the server responded with 400 Bad Request"},
	} {
		_, err := newClient(t, &client.Options{Tries: 1}, tt.server).ListPets(ctx, petstore.ListQuery{})
		e, ok := errors.AsType[*petstore.Error](err)
		if !ok || e.Code != tt.code || e.Message != tt.message {
			t.Errorf("%s: the error is %v, want %s and %q", tt.name, err, tt.code, tt.message)
		}
		if cause, ok := errors.AsType[*client.ResponseError](err); !ok || len(cause.Body) > 1024 || len(cause.Message) > 1024 {
			t.Errorf("%s: the cause is %+v", tt.name, cause)
		}
	}
}

func TestResponseError(t *testing.T) {
	const body = `{"code":"not_found","message":"there is no pet","status":404}`
	_, err := newClient(t, nil, respond(404, body, "X-Request-ID", "r-1")).GetPet(ctx, 7)
	got, _ := errors.AsType[*client.ResponseError](err)
	want := &client.ResponseError{
		URL: "http://pets.test/v1/pets/7", Status: 404, Code: "not_found", Message: "there is no pet", RequestID: "r-1", Body: body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const text = `there is no pet: http://pets.test/v1/pets/7: 404 Not Found, X-Request-ID "r-1", code "not_found"`
	if err.Error() != text {
		t.Errorf("the error is\n%v\nwant\n%s", err, text)
	}
	got.RequestID, got.Code = "", ""
	if text := got.Error(); text != fmt.Sprintf("http://pets.test/v1/pets/7: 404 Not Found, body %q", body) {
		t.Errorf("without a code the cause is %s", text)
	}
}
