package httpapi_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestPaths(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	const rex = `{"id":1,"name":"rex","categoryId":0}`
	s.want(want{status: 200, body: "[" + rex + "]"}, gets("", "/pets /pets? /%70ets /pet%73 http://other/pets")...)
	s.want(want{status: 200, body: rex}, gets("", "/pets/1 /pets/1?x=y /pets/1?%zz /pets/%31 http://other/pets/%31")...)

	s.want(noPath.with("Location", "").with("Deprecation", ""), gets("", `
		/ // /pet /petss /Pets /PETS /pets/ //pets //pets/1 /pets//1 /pets/1/ /pets/1// /pets/1/x
		/./pets /x/../pets /pets/. /pets/.. /pets/%2e /pets/%2E%2e /pets/./1 /pets/../pets
		/pets%2F1 /pets%2f1 /%2Fpets /pets/%2F /pets/%2F1 /pets/1%2F
		/v1/pets /store/orders /categories * http://other`)...)

	s.want(refused(404, "pet"), gets("/pets/", `
		2 0 -1 %2D1 9223372036854775807 -9223372036854775808`)...)

	s.want(refused(404, "petId"), gets("/pets/", `
		9223372036854775808 -9223372036854775809 18446744073709551617 -0 01 -01 00 +1 %2B1 --1 - 1.0 1e0 0x1 1_0
		1%20 %201 1;x 1%00 %EF%BC%91 %FF abc 1,2 ... %252F null`)...)
}

// TestRequired: New and NewMessages panic without what they need.
func TestRequired(t *testing.T) {
	for name, f := range map[string]func(){
		"no service":                 func() { httpapi.New(nil, testKeys, nil) },
		"no authenticator":           func() { httpapi.New(memory.New(nil), nil, nil) },
		"no queue":                   func() { httpapi.NewMessages(nil, testKeys, nil) },
		"messages, no authenticator": func() { httpapi.NewMessages(memory.New(nil), nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestPathsOfHandlers: a handler serves only its own paths.
func TestPathsOfHandlers(t *testing.T) {
	s := newServer(t, nil)
	s.serve(httpapi.New(s.store, testKeys, nil))
	hello := post("/messages", messageBody)
	s.want(found, get("/pets"))
	s.want(noPath, hello, request("POST /messages"))

	s.serve(httpapi.NewMessages(s.store, testKeys, &httpapi.Options{Encoded: s.store}))
	s.want(accepted, hello)
	s.want(noPath, gets("", "/pets /pets/1 /openapi.json")...)
}

func TestMethods(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	for _, path := range []struct{ paths, says, allow, methods string }{
		{"/pets", "method: must be one of GET, HEAD, POST", "GET, HEAD, POST", ""},
		{"/pets/1 /pets/abc", "method: must be one of GET, HEAD", "GET, HEAD", "POST"},
		{"/messages", "method: must be POST", "POST", "GET"},
	} {
		for target := range strings.FieldsSeq(path.paths) {
			for method := range strings.FieldsSeq("PUT PATCH DELETE OPTIONS TRACE QUERY get FOO " + path.methods) {
				line := method + " " + target
				s.want(refused(405, path.says).with("Allow", path.allow), request(line, authorized), request(line))
			}
		}
	}
	s.want(noPath, request("PUT /cats", authorized))
	// HEAD where there is no GET has no body either.
	a := send(t, s.addr, request("HEAD /messages", authorized))
	if a.Status != 405 || a.Body+a.Rest != "" || a.Header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", a)
	}
}

// FuzzPath compares the routing with one that reads the path segment by segment.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"/pets", "/pets/1", "/pets/%31", "/pets%2F1", "/pets/", "//pets", "/pets/./1", "/pets/-1", "/pets/01", "/p%65ts",
		"/pets/9223372036854775808", "http://h/pets/1", "/pets/%2e", "*", "/pets/1?x", "/pets/1;a",
	} {
		f.Add(seed)
	}
	store := memory.New(nil)
	if _, err := store.CreatePet(context.Background(), petstore.NewPet{}, petstore.Once{}); err != nil {
		f.Fatal(err)
	}
	h := httpapi.New(store, testKeys, nil)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return // net/http responds
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = u
		r.URL.RawQuery = ""
		got := perform(t, h, r)

		segments := strings.Split(u.EscapedPath(), "/")
		for i := range segments {
			if segments[i], err = url.PathUnescape(segments[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := 404
		if len(segments) > 1 && segments[0] == "" && segments[1] == "pets" &&
			(len(segments) == 2 || len(segments) == 3 && segments[2] == "1") {
			want = 200
		}
		if got.Status != want {
			t.Fatalf("%q: status %d, want %d", target, got.Status, want)
		}
	})
}
