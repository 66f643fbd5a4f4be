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
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
)

// A client behaves like a store, as far as HTTP allows. The queue, the counts and Close are
// those of the server's store.
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
			c, err := client.New(srv.URL+"/v1", testKey, &client.Options{RetryWrites: true, MaxAttempts: 1})
			if err != nil {
				t.Fatal(err)
			}
			return shown{c, store, store, store}
		},
	})
}

func TestNew(t *testing.T) {
	for _, args := range [][3]string{
		{"/v1", "k"}, {"ftp://h/v1", "k"}, {"http://:8080/v1", "k"}, {"http://u:secret@h/v1", "k"}, {"http://secret@h/v1\n", "k"},
		{"http://h/v1?", "k"}, {"http://h", "k", "m/v1"}, {"http://h", ""}, {"http://h", "sec ret"},
	} {
		if c, err := client.New(args[0], args[1], &client.Options{MessagesURL: args[2]}); c != nil || err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("New(%q) returned %v", args, err)
		}
	}
	for _, o := range []client.Options{{MinBackoff: -1}, {MinBackoff: 1 << 62}} {
		if c, err := client.New("http://h", "k", &o); c != nil || err == nil {
			t.Errorf("New(%+v) returned %v", o, err)
		}
	}
}

// A submission has its own base URL, and with RetryWrites a key as no other has.
func TestIdempotencyKey(t *testing.T) {
	submit := func(retry bool, key string) (url string, field []string, err error) {
		c := newClient(t, client.Options{RetryWrites: retry, MessagesURL: "https://m.test/x/"}, func(r *http.Request) (*http.Response, error) {
			url, field = r.URL.String(), r.Header["Idempotency-Key"]
			return okay(r)
		})
		_, err = c.SubmitMessage(ctx, "hi", petstore.IdempotencyKey{Key: key})
		return url, field, err
	}
	long := strings.Repeat("x", 255)
	seen := map[string]bool{}
	for _, key := range []string{`a"b\c`, long, "two words", long + "x", "", ""} {
		url, field, err := submit(true, key)
		if err != nil || url != "https://m.test/x/messages" || len(field) != 1 || seen[field[0]] ||
			(field[0] == key) != (key == `a"b\c` || key == long) || len(field[0]) > 255 || strings.Contains(field[0], " ") {
			t.Errorf("%q: sent %q to %s (%v)", key, field, url, err)
		}
		seen[strings.Join(field, "")] = true
	}
	if _, field, err := submit(false, ""); field != nil || err != nil {
		t.Errorf("without RetryWrites: sent %q (%v)", field, err)
	}
	if url, _, err := submit(false, "a"); url != "" || petstore.CodeOf(err) != petstore.CodeInvalid {
		t.Errorf("without RetryWrites, with a key: sent to %q (%v)", url, err)
	}
}

// A response that breaks the contract is an error, and leaves the outcome of a creation
// unknown.
func TestBroken(t *testing.T) {
	const rest = `"name":"Rex","categoryId":1}`
	for _, tt := range []struct{ call, body string }{
		{"get", `{` + rest},
		{"get", `{"id":7,"name":"Rex","categoryId":null}`},
		{"get", `{"id":7,"categoryId":1}`},
		{"get", `{"id":7,"status":"lost",` + rest},
		{"list", `[{"id":7,` + rest + `,{"id":true,` + rest + `]`},
		{"list", `[null]`},
		{"list", `null`},
		{"list", strings.Repeat(" ", 16<<20) + "[]"},
		{"create", ""},
		{"create", `{"id":1.5,` + rest},
		{"submit", `{}`},
	} {
		_, err := calls[tt.call](ctx, newClient(t, client.Options{RetryWrites: true}, respond(200, tt.body)))
		write := tt.call == "create" || tt.call == "submit"
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.HasPrefix(err.Error(), "the response breaks the contract: ") || errors.Is(err, client.ErrUnknownOutcome) != write {
			t.Errorf("%s, %.99s: the error is %v", tt.call, tt.body, err)
		}
	}
}

func TestResponseError(t *testing.T) {
	long := strings.Repeat("ä", 512)
	for want, server := range map[string]server{
		"no such pet {404 r-1 {\"message\":\"no such pet\"}}":        respond(404, `{"message":"no such pet"}`, "X-Request-ID", "r-1"),
		"the server responded with I'm a teapot {418  " + long + "}": respond(418, long+long),
	} {
		_, err := newClient(t, client.Options{}, server).GetPet(ctx, 7)
		e, _ := errors.AsType[*petstore.Error](err)
		cause, _ := errors.AsType[*client.ResponseError](err)
		if got := fmt.Sprint(e.Message, " ", *cause); got != want {
			t.Errorf("the error is %s, want %s", got, want)
		}
	}
}

// No error contains the API key or its first half, even if the server sends it back.
func TestKeyIsSecret(t *testing.T) {
	for name, server := range map[string]server{
		"net/http": func(*http.Request) (*http.Response, error) { return nil, errors.New("malformed " + testKey) },
		"body":     respond(401, `{"message":"`+testKey+` is unknown"}`, "X-Request-ID", testKey),
		"long":     respond(503, strings.Repeat("x", 1010)+testKey),
		"cut":      cut(401, testKey[:20]),
		"member":   respond(200, `[{"id":"`+strings.Repeat("x", 20)+testKey+`"}]`),
		"link":     respond(200, `[]`, "Link", `<http://`+testKey+`/>; rel="next"`),
		"bad link": respond(200, `[]`, "Link", `</>,`+testKey),
	} {
		_, err := newClient(t, client.Options{MaxAttempts: 1}, server).ListPets(ctx, petstore.ListQuery{})
		e, ok := errors.AsType[*client.ResponseError](err)
		s := fmt.Sprint(err)
		if ok {
			s += fmt.Sprint(*e)
		}
		if err == nil || strings.Contains(s, testKey[:14]) {
			t.Errorf("%s: the key is in the error %s", name, s)
		}
	}
}
