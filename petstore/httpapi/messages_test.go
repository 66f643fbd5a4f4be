package httpapi_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// TestErrorMessages: the message of an error says what is wrong and what would be right.
// TestConformance sends many more bad requests. The examples in the document have the
// messages of this table.
func TestErrorMessages(t *testing.T) {
	s := newServer(t, nil)
	s.want(created, post("/pets", rexBody))
	s.h = s.handler(s.store, httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		return strings.TrimPrefix(key, "nobody"), nil // accepts every other key
	}), &httpapi.Options{Validate: func(context.Context, petstore.NewPet) error { // after the contract's rules
		return fmt.Errorf("rule 7: %w", petstore.Errorf(petstore.CodeConflict, "name: must not be that of another pet"))
	}})
	each := func(of func(string) string) func(...string) []string {
		return func(parts ...string) (requests []string) {
			for _, part := range parts {
				requests = append(requests, of(part))
			}
			return requests
		}
	}
	lists := each(func(field string) string { return request("GET /pets", field) })
	posts := each(func(field string) string { return postBare("/pets", rexBody, authorized, field) })
	pets := each(func(body string) string { return post("/pets", body) })
	const (
		and     = "\r\n"
		withKey = isJSON + and + "Idempotency-Key: "
	)
	long := strings.Repeat("n", 1000)
	var messages []string
	for _, c := range []struct {
		status   int
		message  string // or a part of it
		requests []string
	}{
		{404, `path: there is nothing at "/v1/pets"; openapi.json, below the base address, has the paths`, gets("/v1/pets")},
		{404, `"//h/\"\x00\u202e\xff"; openapi.json`, gets("//h/%22%00%e2%80%ae%ff")},
		{404, `"/pets/1%2f"; openapi.json`, gets("/pets/1%2f")},
		{404, `"/` + long[:99] + `"; openapi.json`, gets("/" + long)},
		{404, `path: there is nothing at "/`, gets("/ /Pets /pets/ /pets//1 /pets/1/ /pets/.. /pets/%2e /./pets /pets%2F1 /OpenAPI.json /openapi")},
		{404, "no pet has this id", gets("/pets/2 /pets/%2D1 /pets/9223372036854775807")},
		{404, "petId: must be a 64-bit integer in its shortest form, so no pet has this one",
			gets("/pets/9223372036854775808 /pets/01 /pets/-0 /pets/+1 /pets/1%20")},

		{401, "Authorization: an API key is required, as a bearer token in exactly one field", append(
			lists("X: none", authorized+and+authorized, "Authorization: Basic eA=="+and+authorized, "Authorization: Bearer: key-1"),
			request("GET /pets?limit=0"), request("GET /pets/abc"), postBare("/pets", "{", isJSON))},
		{401, "Authorization: the bearer token is not a valid API key",
			lists("Authorization: Bearer nobody", "Authorization: Bearer key-1\tx", "Authorization: Bearer key-1\xc3\xa9")},

		{400, "limit: must be an integer from 1 to 100, in its shortest form", gets("/pets?limit=101 /pets?limit=01 /pets?limit=%2B1")},
		{400, "limit: must not be empty", gets("/pets?limit= /pets?limit")},
		{400, "limit: must be given only once", gets("/pets?limit=1&%6Cimit=2")},
		{400, "status: must be one of available, pending, sold", gets("/pets?status=SOLD")},
		{400, "status: must not be empty", append(gets("/pets?status="), pets(`{"name":"a","categoryId":1,"status":""}`)...)},
		{400, "cursor: must be one that this service returned", gets("/pets?cursor=1 /pets?cursor=MA")},
		{400, "query: malformed", gets("/pets?% /pets?limit=5&x=%zz")},
		{400, "query: malformed: a semicolon must be written as %3B", gets("/pets?limit=5;x=1")},

		{400, "Content-Type: must be given once, as application/json", posts("X: none", "Content-Type:", isJSON+and+isJSON)},
		{415, "Content-Type: must be application/json",
			posts("Content-Type: application/jsonx", "Content-Type: text/plain; application/json")},
		{415, "Content-Encoding: none is supported", posts(isJSON+and+"Content-Encoding: identity, gzip", isJSON+and+"Content-Encoding:"+and+"Content-Encoding: br")},
		{400, "Idempotency-Key: must be given once, with 1 to 512 characters of printable ASCII",
			posts(withKey, withKey+`""`, withKey+long[:513], withKey+"a\tb", withKey+"k\xc3\xa9", withKey+"k"+and+"Idempotency-Key: k")},

		{400, "body: is missing; must be a JSON object", append(pets("", " \r\n\t"), post("/messages", ""))},
		{400, "body: must be a JSON object", pets("null", `"name"`)},
		{400, `body: not valid JSON: unexpected EOF within "/name" after offset 8`, pets(`{"name":`)},
		{400, "body: not valid JSON: invalid character '}' after top-level value after offset 27", pets(`{"name":"a","categoryId":1}}`)},
		{400, "body: not valid JSON: duplicate object member name", pets(`{"x":{"y":1,"y":1},"name":"a","categoryId":1}`)},
		{400, "body: broke off, or was malformed, after 29 bytes", []string{request("POST /pets", authorized, isJSON, "Content-Length: 30") + rexBody}},
		{400, "body: broke off, or was malformed, after 0 bytes", []string{request("POST /pets", authorized, isJSON, isChunked) + "zz\r\n" + rexBody}},

		{400, "name: is missing", pets(`{}`)},
		{400, "categoryId: is missing", pets(`{"name":"a"}`)},
		{400, "name: must be a string, got null", pets(`{"name":null,"categoryId":1}`)},
		{400, `name: must be a string, got ["a"]`, pets(`{"name":["a"],"categoryId":1}`)},
		{400, "categoryId: must be a 64-bit integer, without fraction or exponent, got 1.0", pets(`{"name":"a","categoryId":1.0}`)},
		{400, `categoryId: must be a 64-bit integer, without fraction or exponent, got "dogs"`, pets(`{"name":"a","categoryId":"dogs"}`)},
		{400, "status: must be a string, got 0", pets(`{"name":"a","categoryId":1,"status":0}`)},
		{400, "status: must be one of available, pending, sold", pets(`{"name":"a","categoryId":1,"status":"Sold"}`)},
		{409, "name: must not be that of another pet", pets(rexBody)},
		{400, "message: is missing", []string{post("/messages", `{}`)}},
		{400, "message: must be a string, got 5", []string{post("/messages", `{"message":5}`)}},
	} {
		s.want(refused(c.status, c.message), c.requests...)
		messages = append(messages, c.message)
	}
	example := regexp.MustCompile(`"code": "(?:invalid|not_found)",\s+"message": ("(?:[^"\\]|\\.)*")`)
	examples := example.FindAllStringSubmatch(string(httpapi.OpenAPI()), -1)
	if len(examples) == 0 {
		t.Error("openapi.json has no example of an error")
	}
	for _, m := range examples {
		message, err := strconv.Unquote(m[1])
		if err != nil || !slices.Contains(messages, message) {
			t.Errorf("openapi.json has an example with a message that is not in this table: %s", m[1])
		}
	}
}

// TestLenient: requests that a stricter server might refuse are accepted.
func TestLenient(t *testing.T) {
	s := newServer(t, nil)
	s.want(found, get("/pets", "Content-Type: text/plain", "Idempotency-Key:", "Idempotency-Key: k")) // of a GET they mean nothing
	s.want(created, postBare("/pets", rexBody, "Authorization: BEARER   key-1", "Content-Type: APPLICATION/JSON \t; ;charset=iso-8859-1",
		"Content-Encoding: Identity", "Content-Encoding:", "Idempotency-Key: "+strings.Repeat("k", 512)))
}
