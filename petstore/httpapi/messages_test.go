package httpapi_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// TestErrorMessages: the message of an error says what is wrong and what would be right.
// TestConformance shows which requests are refused. The examples in the document have the
// messages of this table.
func TestErrorMessages(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	pet := func(body string) string { return post("/pets", body) }
	var messages []string
	for _, c := range []struct {
		status   int
		message  string // or a part of it
		requests []string
	}{
		{404, "path: there is nothing here; openapi.json, below the base address, has the paths",
			gets("/ /cats /Pets /v1/pets //pets /pets/ /pets//1 /pets/1/ /pets/.. /pets/%2e /./pets /pets%2F1 /pets%2f1 /pets/1%2f")},
		{404, "no pet has this id", gets("/pets/2 /pets/%2D1 /pets/9223372036854775807")},
		{404, "petId: must be a 64-bit integer in its shortest form, so no pet has this one",
			gets("/pets/9223372036854775808 /pets/01 /pets/-0 /pets/+1 /pets/1%20 /pets/%252F")},

		{405, "method: this path has only GET, HEAD, POST", []string{request("PUT /pets"), request("get /pets")}},
		{405, "method: this path has only GET, HEAD", []string{request("POST /pets/1"), request("PUT /openapi.json")}},
		{405, "method: this path has only POST", []string{request("GET /messages")}},

		{401, "Authorization: an API key is required, as a bearer token in exactly one field",
			[]string{request("GET /pets?limit=0"), request("GET /pets/abc"), postBare("/pets", "{", isJSON)}},

		{400, "limit: must be an integer from 1 to 100, in its shortest form", gets("/pets?limit=0 /pets?limit=101 /pets?limit=%2B1 /pets?limit=1,2")},
		{400, "limit: must not be empty", gets("/pets?limit= /pets?limit")},
		{400, "limit: must be given only once", gets("/pets?limit=1&%6Cimit=2")},
		{400, "status: must be one of available, pending, sold", gets("/pets?status=SOLD /pets?status=sold,pending /pets?status=sold%20 /pets?status=+sold")},
		{400, "status: must not be empty", append(gets("/pets?status="), pet(`{"name":"a","categoryId":1,"status":""}`))},
		{400, "cursor: must be one that this service returned", gets("/pets?cursor=1 /pets?cursor=MA")},
		{400, "query: malformed", gets("/pets?% /pets?limit=5&x=%zz")},
		{400, "query: malformed: a semicolon must be written as %3B", gets("/pets?limit=5;x=1")},

		{400, "Content-Type: must be given once, as application/json", []string{postBare("/pets", rexBody, authorized)}},
		{400, "Idempotency-Key: must be given once, with 1 to 512 characters of printable ASCII",
			[]string{post("/pets", rexBody, "Idempotency-Key: "+strings.Repeat("k", 513))}},

		{400, "body: is missing; must be a JSON object", []string{pet(""), pet(" \r\n\t"), post("/messages", "")}},
		{400, "body: must be a JSON object", []string{pet("null"), pet(`"name"`), pet(`[{"name":"a"}]`)}},
		{400, `body: not valid JSON: unexpected EOF within "/name" after offset 8`, []string{pet(`{"name":`)}},
		{400, `body: not valid JSON: invalid character '\'' at start of value within "/name" after offset 8`, []string{pet(`{"name":'rex'}`)}},
		{400, "body: not valid JSON: invalid character '}' after top-level value after offset 27", []string{pet(`{"name":"a","categoryId":1}}`)}},
		{400, `body: not valid JSON: invalid UTF-8 within "/name" after offset 9`, []string{pet("{\"name\":\"\xff\",\"categoryId\":1}")}},
		{400, "body: not valid JSON", []string{pet("\xef\xbb\xbf{}")}}, // a byte order mark
		{400, "body: not valid JSON: invalid surrogate pair", []string{pet(`{"name":"\ud800","categoryId":1}`)}},
		{400, "body: not valid JSON: duplicate object member name", []string{pet(`{"x":{"y":1,"y":1},"name":"a","categoryId":1}`)}},

		{400, "name: is missing", []string{pet(`{}`)}},
		{400, "categoryId: is missing", []string{pet(`{"name":"a"}`)}},
		{400, "name: must be a string, got null", []string{pet(`{"name":null,"categoryId":1}`)}},
		{400, `name: must be a string, got ["a"]`, []string{pet(`{"name":["a"],"categoryId":1}`)}},
		{400, "categoryId: must be a 64-bit integer, without fraction or exponent, got 1.0", []string{pet(`{"name":"a","categoryId":1.0}`)}},
		{400, `categoryId: must be a 64-bit integer, without fraction or exponent, got "dogs"`, []string{pet(`{"name":"a","categoryId":"dogs"}`)}},
		{400, "status: must be a string, got 0", []string{pet(`{"name":"a","categoryId":1,"status":0}`)}},
		{400, "status: must be one of available, pending, sold", []string{pet(`{"name":"a","categoryId":1,"status":"Sold"}`)}},
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
