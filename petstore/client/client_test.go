package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
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
		RealTime: true,
		Open: func(t *testing.T, _ string, o storagetest.Options) petstore.Service {
			store := memory.New(&memory.Options{QueueCapacity: o.QueueCapacity})
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
		{"http://h/v1?", "k"}, {"http://h", "k", "m/v1"}, {"http://h", ""}, {"http://h", "sec ret"}, {"http://h", `sec"ret`},
	} {
		if c, err := client.New(args[0], args[1], &client.Options{MessagesURL: args[2]}); c != nil || err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("New(%q) returned %v", args, err)
		}
	}
}

// A submission has its own base URL. A key is always sent. Without one, it is as no other has
// with RetryWrites, and none otherwise.
func TestIdempotencyKey(t *testing.T) {
	const hash = `^"[0-9a-f]{64}"$`
	long := strings.Repeat("x", 255)
	last := ""
	for _, tt := range []struct {
		key   petstore.IdempotencyKey
		retry bool
		want  string // a pattern
	}{
		{petstore.IdempotencyKey{Key: `a"b\c d`}, false, `^"a\\"b\\\\c d"$`},
		{petstore.IdempotencyKey{Key: long}, true, `^"x{255}"$`},
		{petstore.IdempotencyKey{Key: long + "x"}, true, hash},
		{petstore.IdempotencyKey{Key: "é"}, false, hash},
		{petstore.IdempotencyKey{Scope: "s", Key: "a"}, true, hash},
		{none, false, `^$`},
		{none, true, `^"[A-Z2-7]{26}"$`},
		{none, true, `^"[A-Z2-7]{26}"$`},
	} {
		c := newClient(t, client.Options{RetryWrites: tt.retry, MessagesURL: "https://m.test/x/"}, func(r *http.Request) (*http.Response, error) {
			field := strings.Join(r.Header["Idempotency-Key"], ", ")
			if url := r.URL.String(); url != "https://m.test/x/messages" || !regexp.MustCompile(tt.want).MatchString(field) || field != "" && field == last && tt.key == none {
				t.Errorf("%+v, RetryWrites %v: sent %s to %s", tt.key, tt.retry, field, url)
			}
			last = field
			return okay(r)
		})
		if _, err := c.SubmitMessage(ctx, "hi", tt.key); err != nil {
			t.Error(err)
		}
	}
}

// A response that breaks the contract is an error, and leaves the outcome of a creation
// unknown.
func TestBroken(t *testing.T) {
	const rest = `"name":"Rex","categoryId":1}`
	for _, tt := range []struct{ call, body string }{
		{"get", `{` + rest},
		{"get", `{"id":7,"status":"lost",` + rest},
		{"get", `{"id":8,` + rest},
		{"create", `{"id":7,"name":"Tom","categoryId":1,"status":"sold"}`},
		{"create", `{"id":7,` + rest},
		{"list", `[{"id":7,` + rest + `,{"id":true,` + rest + `]`},
		{"list", `null`},
		{"create", ""},
		{"submit", `{}`},
	} {
		_, err := calls[tt.call](ctx, newClient(t, client.Options{RetryWrites: true}, respond(200, tt.body)))
		write := tt.call == "create" || tt.call == "submit"
		if petstore.CodeOf(err) != petstore.CodeInternal || !strings.HasPrefix(err.Error(), "the response breaks the contract: ") || errors.Is(err, client.ErrMaybeDone) != write {
			t.Errorf("%s, %.99s: the error is %v", tt.call, tt.body, err)
		}
	}
}

// An error has what the response says, but neither the API key nor its first half, even if the
// server sends it back.
func TestResponseError(t *testing.T) {
	long := "a" + strings.Repeat("ä", 511) // and half of another
	for _, tt := range []struct {
		server server
		want   string // or a part of it
	}{
		{respond(404, `{"code":"gone","message":"no such pet"}`, "X-Request-ID", "r-1"), `no such pet {404 gone no such pet r-1 {"code":"gone","message":"no such pet"}}`},
		{respond(418, long+"ää"), "the server responded with I'm a teapot {418    " + long + "}"},
		{func(*http.Request) (*http.Response, error) { return nil, errors.New("malformed " + testKey) }, "malformed [API key]"},
		{respond(401, `{"code":"`+testKey+`","message":"`+testKey+` is unknown"}`, "X-Request-ID", testKey), "[API key] is unknown {401 [API key] [API key] is unknown [API key] {"},
		{respond(503, strings.Repeat("x", 1010)+testKey), "xxx[API key]}"},
		{cut(401, testKey[:20]), "Unauthorized {401    }"},
		{respond(200, `[{"id":"`+strings.Repeat("x", 80)+testKey+`"}]`), "id: must be"},
		{respond(200, `[{"`+strings.Repeat("x", 32)+testKey+strings.Repeat("x", 60)+`":tru}]`), "malformed"},
		{respond(200, `[]`, "Link", `<http://`+testKey+`/>; rel="next"`), "http://[API key]/"},
	} {
		_, err := newClient(t, client.Options{MaxAttempts: 1}, tt.server).ListPets(ctx, petstore.ListQuery{})
		got := fmt.Sprint(err)
		if cause, ok := errors.AsType[*client.ResponseError](err); ok {
			got = fmt.Sprint(err.(*petstore.Error).Message, " ", *cause)
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, testKey[:14]) {
			t.Errorf("the error is %s, want %s and no key", got, tt.want)
		}
	}
}
