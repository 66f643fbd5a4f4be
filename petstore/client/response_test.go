package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
)

// calls are the calls that the tests make, by their operations.
var calls = map[string]func(*client.Client) (any, error){
	"list":   func(c *client.Client) (any, error) { return c.ListPets(ctx, petstore.ListQuery{Limit: 2}) },
	"sold":   func(c *client.Client) (any, error) { return c.ListPets(ctx, petstore.ListQuery{Status: "sold"}) },
	"get":    func(c *client.Client) (any, error) { return c.GetPet(ctx, 7) },
	"create": func(c *client.Client) (any, error) { return c.CreatePet(ctx, rex, none) },
	"submit": func(c *client.Client) (any, error) { return c.SubmitMessage(ctx, "hi", none) },
}

// The client understands every response of a conformant server.
func TestConforming(t *testing.T) {
	pet := func(status petstore.Status) petstore.Pet {
		return petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 1, Status: status}}
	}
	at := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	message := petstore.Message{ID: "m", Text: "hi", Status: petstore.MessageQueued, CreatedAt: at}
	record := func(at string) string {
		return `{"createdAt":"` + at + `","status":"queued","message":"hi","id":"m"}`
	}
	const ok = `{"id":7,"name":"Rex","categoryId":1}`
	for _, tt := range []struct {
		name, call string
		server     http.HandlerFunc
		want       any
	}{
		{"another media type", "get", response(200, ok, "Content-Type", `Text/Plain; charset="x"`), pet("")},
		{"a status of null", "get", response(200, `{"id":7,"name":"Rex","categoryId":1,"status":null}`), pet("")},
		{"an empty list", "sold", response(200, ` [ ] `), petstore.Page{Pets: []petstore.Pet{}}},
		{"a default status", "create", response(201, `{"id":7,"name":"Rex","categoryId":1,"status":"available"}`), pet("available")},
		{"an interim response", "get", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			response(200, ok)(w, r)
		}, pet("")},
		{"202 for a message", "submit", response(202, record("2026-11-20T12:30:00Z")), message},
		{"201 for a message", "submit", response(201, record("2026-11-20T13:30:00.000+01:00"), "Location", "/x"), message},
		{"another status of a message", "submit", response(202, `{"id":"","message":"hi","status":"sent","createdAt":"2026-11-20T12:30:00Z"}`),
			petstore.Message{Text: "hi", Status: "sent", CreatedAt: at}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.server)
			defer srv.Close()
			got, err := calls[tt.call](newClient(t, srv.URL, nil))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A response that breaks the contract is an error that says what is wrong.
func TestBroken(t *testing.T) {
	const rest = `"name":"Rex","categoryId":1}`
	record := func(members string) http.HandlerFunc { return response(202, `{"id":"m",`+members+`}`) }
	for _, tt := range []struct {
		name, call string
		server     http.HandlerFunc
		want       string
	}{
		{"no id", "get", response(200, `{`+rest), "id: is missing"},
		{"an id of null", "get", response(200, `{"id":null,`+rest), "id: is missing"},
		{"an id as a string", "get", response(200, `{"id":"7",`+rest), "id: must not be a JSON value of the kind string"},
		{"an id that is not whole", "get", response(200, `{"id":7.5,`+rest), "id: "},
		{"an id above int64", "get", response(200, `{"id":9223372036854775808,`+rest), "id: "},
		{"no name", "get", response(200, `{"id":7,"categoryId":1}`), "name: is missing"},
		{"a name as a number", "get", response(200, `{"id":7,"name":5,"categoryId":1}`), "name: must not be a JSON value of the kind number"},
		{"no category", "get", response(200, `{"id":7,"name":"Rex"}`), "categoryId: is missing"},
		{"an unknown status", "get", response(200, `{"id":7,"status":"Sold",`+rest), "status: must be one of available, pending, sold"},
		{"an empty body", "get", response(200, ""), "body: not valid JSON"},
		{"not JSON", "get", response(200, "<html>"), "body: not valid JSON"},
		{"a name twice", "get", response(200, `{"id":7,"id":7,`+rest), "body: not valid JSON"},
		{"data after the pet", "get", response(200, `{"id":7,`+rest+`{}`), "body: not valid JSON"},
		{"an array", "get", response(200, `[]`), "body: must not be a JSON value of the kind ["},
		{"a list of null", "list", response(200, `null`), "body: must be an array, not null"},
		{"an envelope", "list", response(200, `{"pets":[]}`), "body: must not be a JSON value of the kind {"},
		{"null in a list", "list", response(200, `[null]`), "0/id: is missing"},
		{"a broken pet in a list", "list", response(200, `[{"id":7,`+rest+`,{"id":true,`+rest+`]`), "1/id: must not be a JSON value of the kind true"},
		{"200 for a creation", "create", response(200, `{"id":7,`+rest), "status: must be 201, got 200"},
		{"201 without an id", "create", response(201, `{`+rest), "id: is missing"},
		{"201 without a body", "create", response(201, ""), "body: not valid JSON"},
		{"a message without a text", "submit", record(`"status":"queued","createdAt":"2026-11-20T12:30:00Z"`), "message: is missing"},
		{"a message without an id", "submit", response(202, `{}`), "id: is missing"},
		{"a message without a status", "submit", record(`"message":"hi","createdAt":"2026-11-20T12:30:00Z"`), "status: is missing"},
		{"a message without a time", "submit", record(`"message":"hi","status":"queued"`), "createdAt: is missing"},
		{"a local time", "submit", record(`"message":"hi","status":"queued","createdAt":"2026-11-20T12:30:00"`), "createdAt: "},
		{"a time as a number", "submit", record(`"message":"hi","status":"queued","createdAt":5`), "createdAt: "},
		{"a body that is too long", "list", response(200, strings.Repeat(" ", 16<<20)+"[]"), "body: must have at most 16777216 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.server)
			defer srv.Close()
			_, err := calls[tt.call](newClient(t, srv.URL, nil))
			write := tt.call == "create" || tt.call == "submit"
			cause, ok := errors.AsType[*client.ResponseError](err)
			if petstore.CodeOf(err) != petstore.CodeInternal || !strings.HasPrefix(err.Error(), "the response breaks the contract: "+tt.want) || !ok ||
				errors.Is(err, client.ErrUnknownOutcome) != write {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
			if ok && (cause.Status/100 != 2 || !strings.HasPrefix(cause.URL, srv.URL)) {
				t.Errorf("the cause is %+v", cause)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	body := func(status int, code, message string) http.HandlerFunc {
		return response(status, fmt.Sprintf(`{"status":%d.0,"message":%q,"code":%q,"more":[]}`, status, message, code), "X-Request-ID", "r-1")
	}
	for _, tt := range []struct {
		name    string
		server  http.HandlerFunc
		code    petstore.Code
		message string
	}{
		{"400", body(400, "invalid", "limit: too low"), petstore.CodeInvalid, "limit: too low"},
		{"400 with an unknown code", body(400, "E_17", "no"), petstore.CodeInvalid, "no"},
		{"400 with the code of another", body(400, "internal", "no"), petstore.CodeInvalid, "no"},
		{"401 with a code that is ours by chance", body(401, "invalid", "no"), petstore.CodeUnauthorized, "no"},
		{"401 without a body", response(401, ""), petstore.CodeUnauthorized, "the server responded with 401 Unauthorized"},
		{"404 in HTML", response(404, "<h1>Not Found</h1>"), petstore.CodeNotFound, "the server responded with 404 Not Found"},
		{"409", body(409, "duplicate", "no"), petstore.CodeInvalid, "no"},
		{"413", body(413, "body_too_large", "no"), petstore.CodeInvalid, "no"},
		{"422", body(422, "idempotency_mismatch", "other value"), petstore.CodeMismatch, "other value"},
		{"422 for another reason", body(422, "unprocessable", "no"), petstore.CodeInvalid, "no"},
		{"429", response(429, "slow down"), petstore.CodeUnavailable, "the server responded with 429 Too Many Requests"},
		{"500", body(500, "internal", "internal error"), petstore.CodeInternal, "internal error"},
		{"502", response(502, ""), petstore.CodeUnavailable, "the server responded with 502 Bad Gateway"},
		{"503", body(503, "unavailable", "the queue is full"), petstore.CodeUnavailable, "the queue is full"},
		{"507", response(507, ""), petstore.CodeFull, "the server responded with 507 Insufficient Storage"},
		{"599", response(599, `{"code":5}`), petstore.CodeInternal, "the server responded with 599 "},
		{"304", response(304, ""), petstore.CodeInternal, `the server redirects to "", and the client does not follow; use the part before /pets as the base URL`},
		{"a long message", body(400, "", strings.Repeat("ä", 1000)), petstore.CodeInvalid, strings.Repeat("ä", 510) + "..."},
		{"a body that is cut", raw("HTTP/1.1 400 Bad\r\nContent-Length: 100\r\n\r\n{"), petstore.CodeInvalid, "the server responded with 400 Bad Request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.server)
			defer srv.Close()
			c := newClient(t, srv.URL, &client.Options{Tries: 1})
			_, err := c.ListPets(ctx, petstore.ListQuery{})
			e, ok := errors.AsType[*petstore.Error](err)
			if !ok || e.Code != tt.code || e.Message != tt.message {
				t.Errorf("the error is %#v (%v), want %s and %q", e, err, tt.code, tt.message)
			}
			if cause, ok := errors.AsType[*client.ResponseError](err); !ok || len(cause.Body) > 1024 || len(cause.Message) > 1024 {
				t.Errorf("the cause is %+v", cause)
			}
		})
	}
}

func TestResponseError(t *testing.T) {
	srv := httptest.NewServer(response(404, `{"code":"not_found","message":"there is no pet","status":404}`, "X-Request-ID", "r-1"))
	defer srv.Close()
	_, err := newClient(t, srv.URL, nil).GetPet(ctx, 7)
	got, _ := errors.AsType[*client.ResponseError](err)
	want := &client.ResponseError{
		URL: srv.URL + "/pets/7", Status: 404, Code: "not_found", Message: "there is no pet",
		RequestID: "r-1", Body: `{"code":"not_found","message":"there is no pet","status":404}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := `there is no pet: ` + srv.URL + `/pets/7: 404 Not Found, X-Request-ID "r-1", code "not_found"`
	if err.Error() != text {
		t.Errorf("the error is\n%v\nwant\n%s", err, text)
	}
}
