package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/client"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
	"example.com/animalstore/petstore/storage/storagetest"
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

// handler serves the pets and messages of store under /v1.
func handler(store *memory.Store) http.Handler {
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		if key != testKey {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
		}
		return "tester", nil
	})
	return http.StripPrefix("/v1", httpapi.New(store, auth, &httpapi.Options{Messages: store, Encoded: store, MaxBodyBytes: 4 << 20}))
}

// A client behaves like a store, as far as HTTP allows. The queue, the counts and
// Close are those of the server's store, so the tests Queue, QueueCapacity and
// Closed check what the client did there. Two tests check nothing: Encoded, because
// a client is not a petstore.EncodedReader, and QueueCapacity, which needs a strict
// store. Get, Once, MessagesOnce and Queue end where they would open the store again.
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
			srv := httptest.NewServer(handler(store))
			t.Cleanup(srv.Close)
			c := newClient(t, srv.URL+"/v1", &client.Options{HTTPClient: srv.Client(), Retry: client.Retry{Tries: 1}})
			return shown{c, store, store, store}
		},
	})
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		base, key string
		opts      *client.Options
		want      string // in the error; "": there is none
	}{
		{base: "http://127.0.0.1:8080", key: "k"},
		{base: "https://pets.example/v1/", key: "k"},
		{base: "HTTPS://[::1]/a%2Fb/v1", key: "k~!"},
		{base: "http://h/v1", key: "k", opts: &client.Options{MessagesURL: "http://m/v1", UserAgent: "a b/1"}},
		{base: "", key: "k", want: "base URL: must be absolute"},
		{base: "/v1", key: "k", want: "must be absolute"},
		{base: "pets.example/v1", key: "k", want: "must be absolute"},
		{base: "127.0.0.1:8080", key: "k", want: "must be an absolute URL, such as http://"},
		{base: "ftp://h/v1", key: "k", want: "with http or https"},
		{base: "http://:8080/v1", key: "k", want: "and a host"},
		{base: "http://u:secret@h/v1", key: "k", want: "no user"},
		{base: "http://u:sec ret@h/v1\n", key: "k", want: "must be an absolute URL"},
		{base: "http://h/v1?a=b", key: "k", want: "no query"},
		{base: "http://h/v1?", key: "k", want: "no query"},
		{base: "http://h/v1#a", key: "k", want: "no fragment"},
		{base: "http://h/v1#", key: "k", want: "no fragment"},
		{base: "http://h", key: "", want: "API key: must not be empty"},
		{base: "http://h", key: "secret\n", want: "without spaces and line breaks"},
		{base: "http://h", key: "secret\r\nX: y", want: "API key: must be"},
		{base: "http://h", key: "secrét", want: "API key: must be"},
		{base: "http://h", key: "k", opts: &client.Options{MessagesURL: "m/v1"}, want: "MessagesURL: must be"},
		{base: "http://h", key: "k", opts: &client.Options{UserAgent: "a\nb"}, want: "UserAgent: must be"},
	} {
		c, err := client.New(tt.base, tt.key, tt.opts)
		if (c == nil) != (err != nil) || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%q, %q) returned %v, want %q", tt.base, tt.key, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "sec") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
}

// A request has what the contract asks for, at every base URL.
func TestRequest(t *testing.T) {
	var got []string
	c := offline(t, &client.Options{MessagesURL: "https://messages.test/m/v1/", UserAgent: "tests/1"}, func(r *http.Request) (*http.Response, error) {
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.UserAgent() != "tests/1" {
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

// sentKey returns the Idempotency-Key of a request that a roundTripper receives.
// The name of the field is in lower case so that net/http does not find it.
func sentKey(r *http.Request) string {
	name := "idempotency-key"
	return strings.Join(r.Header[name], "|")
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
			unknown := i == 1 && status == 303
			if petstore.CodeOf(err) != petstore.CodeInternal || !strings.Contains(err.Error(), other.URL+"/v2/pets") || !strings.Contains(err.Error(), "as the base URL") ||
				errors.Is(err, client.ErrUnknownOutcome) != unknown {
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

// No error and no log line contains the API key, even if the server sends it back.
func TestKeyIsSecret(t *testing.T) {
	var log strings.Builder
	opts := &client.Options{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Retry:  client.Retry{Tries: 2, MinWait: 1, MaxWait: 1},
	}
	for name, h := range map[string]http.HandlerFunc{
		"error body":     response(401, `{"code":"`+testKey+`","message":"`+testKey+` is unknown","status":401}`, "X-Request-ID", testKey),
		"text":           response(503, strings.Repeat("x", 1010)+testKey),
		"no JSON":        response(200, testKey),
		"broken":         response(200, `[{"id":1,"name":"","categoryId":1,"status":"`+testKey+`"}]`),
		"redirect":       response(302, "", "Location", "http://other.test/"+testKey),
		"bad redirect":   response(302, "", "Location", "http://%zz"+testKey),
		"bad header":     raw("HTTP/1.1 200 OK\r\nAuthorization " + testKey + "\r\n\r\n"),
		"deprecated too": response(404, "", "Deprecation", testKey, "Sunset", testKey),
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(h)
			defer srv.Close()
			c := newClient(t, srv.URL, opts)
			_, listErr := c.ListPets(ctx, petstore.ListQuery{})
			_, getErr := c.GetPet(ctx, 1)
			_, createErr := c.CreatePet(ctx, rex, none)
			for _, err := range []error{listErr, getErr, createErr} {
				if err == nil {
					t.Fatal("no error")
				}
				for ; err != nil; err = errors.Unwrap(err) {
					if s := fmt.Sprintf("%v %+v", err, err); strings.Contains(s, testKey) {
						t.Errorf("the key is in the error %s", s)
					}
				}
			}
			if strings.Contains(log.String(), testKey) {
				t.Errorf("the key is in the log:\n%s", log.String())
			}
		})
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

func TestDeprecated(t *testing.T) {
	for name, tt := range map[string]struct {
		header []string
		want   string
	}{
		"both":          {[]string{"Deprecation", "@1763596800", "Sunset", "Thu, 05 Dec 2030 00:00:00 GMT"}, " since=2025-11-20T00:00:00.000Z until=2030-12-05T00:00:00.000Z"},
		"only Sunset":   {[]string{"Sunset", "Thursday, 05-Dec-30 23:59:59 GMT"}, " until=2030-12-05T23:59:59.000Z"},
		"an older form": {[]string{"Deprecation", "true"}, ""},
		"nothing":       {nil, "no line"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			c := offline(t, &client.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, handled(response(404, "", tt.header...)))
			if c.ListPets(ctx, petstore.ListQuery{}); log.Len() > 0 {
				t.Errorf("a list logged %s", log.String())
			}
			for range 3 {
				c.GetPet(ctx, 1)
			}
			_, got, found := strings.Cut(log.String(), `level=WARN msg="GetPet is deprecated; use ListPets"`)
			if !found {
				got = "no line\n"
			}
			if got != tt.want+"\n" {
				t.Errorf("logged\n%s", log.String())
			}
		})
	}
}

// The client reuses connections after every kind of response, over HTTP/1.1 and
// HTTP/2.
func TestConnections(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %v", http2), func(t *testing.T) {
			store := memory.New(nil)
			var opened, others atomic.Int64
			h := handler(store)
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if (r.ProtoMajor == 2) != http2 {
					others.Add(1)
				}
				h.ServeHTTP(w, r)
			}))
			srv.Config.ConnState = countNew(&opened)
			opts := &client.Options{}
			if srv.EnableHTTP2 = http2; http2 {
				srv.StartTLS()
				opts.HTTPClient = srv.Client()
			} else {
				srv.Start()
			}
			defer srv.Close()
			c := newClient(t, srv.URL+"/v1", opts)
			for i := range 20 {
				pet, err := c.CreatePet(ctx, petstore.NewPet{Name: strings.Repeat("x", i*5000)}, none)
				if err != nil {
					t.Fatal(err)
				}
				c.GetPet(ctx, pet.ID)
				c.GetPet(ctx, -1)
				c.ListPets(ctx, petstore.ListQuery{})
			}
			// On a slow machine net/http sometimes abandons a connection.
			if n := opened.Load(); n > 5 || others.Load() != 0 {
				t.Errorf("%d connections for 80 requests, %d requests over another protocol; want one or a few, and 0", n, others.Load())
			}
		})
	}
}

func countNew(n *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.Add(1)
		}
	}
}

// Many concurrent callers lose nothing and create nothing twice, although the
// server cuts connections before and after it carries out a request.
func TestConcurrent(t *testing.T) {
	store := memory.New(nil)
	h := handler(store)
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) % 7 {
		case 2:
			raw("")(w, r)
		case 4:
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			raw(fmt.Sprintf("HTTP/1.1 %d Cut\r\nContent-Length: 100\r\n\r\n{", rec.Code))(w, r)
		default:
			h.ServeHTTP(w, r)
		}
	}))
	defer srv.Close()
	c := newClient(t, srv.URL+"/v1", &client.Options{IdempotentServer: true, Retry: client.Retry{Tries: 1000, MinWait: 1, MaxWait: time.Millisecond}})

	const callers, each = 16, 25
	var wg sync.WaitGroup
	var created sync.Map
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				p := petstore.NewPet{Name: fmt.Sprint(i, " ", j), CategoryID: int64(i)}
				pet, err := c.CreatePet(ctx, p, none)
				if err != nil || pet.NewPet != p {
					t.Errorf("created %+v: %v", pet, err)
				}
				created.Store(pet, true)
				if _, err := c.SubmitMessage(ctx, p.Name, none); err != nil {
					t.Error(err)
				}
			}
			for _, err := range c.All(ctx, petstore.ListQuery{Limit: 10}) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for pet, err := range c.All(ctx, petstore.ListQuery{}) {
		if _, ok := created.LoadAndDelete(pet); !ok {
			t.Errorf("listed %+v, which no call returned (%v)", pet, err)
		}
	}
	created.Range(func(pet, _ any) bool {
		t.Errorf("%+v is not listed", pet)
		return true
	})
	if stats, _ := store.Stats(ctx); stats.Pets != callers*each || stats.QueuedMessages != callers*each {
		t.Errorf("the store has %+v, want %d of each", stats, callers*each)
	}
}
