package httpapi_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestPaths(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	rex := want{status: 200, body: `{"id":1,"name":"rex","categoryId":0}`}
	list := want{status: 200, body: `[{"id":1,"name":"rex","categoryId":0}]`}
	nothing := want{status: 404, code: "not_found", says: "path",
		header: map[string]string{"Location": "", "Deprecation": ""}}
	noPet := want{status: 404, code: "not_found", says: "pet"}
	invalidID := want{status: 404, code: "not_found", says: "petId"}

	var cases []rawCase
	for target, w := range map[string]want{
		"/pets":                 list,
		"/pets?":                list,
		"/%70ets":               list,
		"/pet%73":               list,
		"http://other/pets":     list,
		"/pets/1":               rex,
		"/pets/1?x=y":           rex,
		"/pets/1?%zz":           rex,
		"/pets/%31":             rex,
		"http://other/pets/%31": rex,

		"/":             nothing,
		"//":            nothing,
		"/pet":          nothing,
		"/petss":        nothing,
		"/Pets":         nothing,
		"/PETS":         nothing,
		"/pets/":        nothing,
		"//pets":        nothing,
		"//pets/1":      nothing,
		"/pets//1":      nothing,
		"/pets/1/":      nothing,
		"/pets/1//":     nothing,
		"/pets/1/x":     nothing,
		"/./pets":       nothing,
		"/x/../pets":    nothing,
		"/pets/.":       nothing,
		"/pets/..":      nothing,
		"/pets/%2e":     nothing,
		"/pets/%2E%2e":  nothing,
		"/pets/./1":     nothing,
		"/pets/../pets": nothing,
		"/pets%2F1":     nothing,
		"/pets%2f1":     nothing,
		"/%2Fpets":      nothing,
		"/pets/%2F":     nothing,
		"/pets/%2F1":    nothing,
		"/pets/1%2F":    nothing,
		"/v1/pets":      nothing,
		"/store/orders": nothing,
		"/categories":   nothing,
		"*":             nothing,
		"http://other":  nothing,

		"/pets/2":                    noPet,
		"/pets/0":                    noPet,
		"/pets/-1":                   noPet,
		"/pets/%2D1":                 noPet,
		"/pets/9223372036854775807":  noPet,
		"/pets/-9223372036854775808": noPet,

		"/pets/9223372036854775808":  invalidID,
		"/pets/-9223372036854775809": invalidID,
		"/pets/18446744073709551617": invalidID,
		"/pets/-0":                   invalidID,
		"/pets/01":                   invalidID,
		"/pets/-01":                  invalidID,
		"/pets/00":                   invalidID,
		"/pets/+1":                   invalidID,
		"/pets/%2B1":                 invalidID,
		"/pets/--1":                  invalidID,
		"/pets/-":                    invalidID,
		"/pets/1.0":                  invalidID,
		"/pets/1e0":                  invalidID,
		"/pets/0x1":                  invalidID,
		"/pets/1_0":                  invalidID,
		"/pets/1%20":                 invalidID,
		"/pets/%201":                 invalidID,
		"/pets/1;x":                  invalidID,
		"/pets/1%00":                 invalidID,
		"/pets/%EF%BC%91":            invalidID, // a full-width 1
		"/pets/%FF":                  invalidID,
		"/pets/abc":                  invalidID,
		"/pets/1,2":                  invalidID,
		"/pets/...":                  invalidID,
		"/pets/%252F":                invalidID,
		"/pets/null":                 invalidID,
	} {
		cases = append(cases, rawCase{target, get(target), w})
	}
	s.run(cases)
}

// TestPathsOfHandlers: a handler serves only its own paths.
func TestPathsOfHandlers(t *testing.T) {
	store := memory.New(nil)
	pets := &server{t, store, listen(t, httpapi.New(store, testKeys, nil))}
	messages := &server{t, store, listen(t, httpapi.NewMessages(store, testKeys, &httpapi.Options{Encoded: store}))}
	nothing := want{status: 404, code: "not_found", says: "path"}
	hello := post("/messages", `{"message":"hello"}`)
	pets.run([]rawCase{
		{"pets", get("/pets"), want200},
		{"no messages", hello, nothing},
		{"no messages, no credential", request("POST /messages"), nothing},
	})
	messages.run([]rawCase{
		{"messages", hello, want{status: 202}},
		{"no pets", get("/pets"), nothing},
		{"no pet", get("/pets/1"), nothing},
		{"no description", get("/openapi.json"), nothing},
	})
}

func TestMethods(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	not := func(allow string) want {
		says := "method: must be one of " + allow
		if allow == "POST" {
			says = "method: must be POST"
		}
		return want{status: 405, code: "method_not_allowed", says: says, header: map[string]string{"Allow": allow}}
	}
	const list, pet, messages = "GET, HEAD, POST", "GET, HEAD", "POST"
	var cases []rawCase
	add := func(line, allow string) {
		cases = append(cases,
			rawCase{line, request(line, authorized), not(allow)},
			rawCase{line + ", no credential", request(line), not(allow)})
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "get", "FOO"} {
		add(method+" /pets", list)
		add(method+" /pets/1", pet)
		add(method+" /pets/abc", pet)
		add(method+" /messages", messages)
	}
	add("POST /pets/1", pet)
	add("GET /messages", messages)
	cases = append(cases, rawCase{"PUT of an unknown path", request("PUT /cats", authorized), want{status: 404, code: "not_found"}})
	s.run(cases)
}

// TestHEAD: HEAD is allowed where GET is, with the same header fields and no body.
func TestHEAD(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex", "tom", "sold one")
	for _, target := range []string{
		"/pets", "/pets?limit=1", "/pets?status=sold", "/pets?status=pending", "/pets?limit=0", "/pets?cursor=x",
		"/pets/1", "/pets/99", "/pets/abc", "/cats", "/pets/", "/pets?%zz",
	} {
		for _, credential := range []string{authorized, "Authorization: Bearer nope"} {
			id := "X-Request-ID: the-same"
			g := send(t, s.addr, request("GET "+target, credential, id))
			h := send(t, s.addr, request("HEAD "+target, credential, id))
			g.header.Del("Date")
			h.header.Del("Date")
			if h.status != g.status || h.body+h.rest != "" || !cmp.Equal(g.header, h.header) {
				t.Errorf("%s: HEAD %d %v %q, GET %d %v", target, h.status, h.header, h.body+h.rest, g.status, g.header)
			}
			if g.body == "" {
				t.Errorf("%s: GET has no body", target)
			}
		}
	}
	// HEAD where there is no GET has no body either.
	a := send(t, s.addr, request("HEAD /messages", authorized))
	if a.status != 405 || a.body+a.rest != "" || a.header.Get("Allow") != "POST" {
		t.Errorf("HEAD /messages: %+v", a)
	}
}

// TestBodyOfGET: the body of a GET is ignored, and never read as a request.
func TestBodyOfGET(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	hidden := post("/pets", `{"name":"smuggled","categoryId":1}`)
	a := send(t, s.addr, request("GET /pets/1", authorized, "Content-Length: "+strconv.Itoa(len(hidden)))+hidden)
	if err := a.check(want{status: 200}); err != nil {
		t.Error(err)
	}
	if stats := s.stats(t); stats.Pets != 1 {
		t.Errorf("%d pets, want 1", stats.Pets)
	}
}
