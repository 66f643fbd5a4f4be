package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExamples: every response has an example, and every example is what the
// server returns, byte for byte.
func TestExamples(t *testing.T) {
	doc := ourDocument(t)
	left := maps.Clone(replays)
	for where, op := range doc.operations() {
		requests := requestExamples(t, doc, op)
		for status, raw := range op.Responses {
			response := deref[responseObject](t, doc, raw)
			examples := response.Content["application/json"].Examples
			if len(examples) == 0 {
				t.Errorf("%s %s has no example", op.OperationID, status)
			}
			for name, raw := range examples {
				r := newReplay(t, doc, where, op, name)
				for _, key := range []string{"*", op.OperationID} {
					key += " " + status + " " + name
					if change, ok := replays[key]; ok {
						change(r)
						delete(left, key)
						requests[name] = true
					}
				}
				t.Run(strings.Join([]string{op.OperationID, status, name}, " "), func(t *testing.T) {
					if !requests[name] {
						t.Fatal("no request has this response")
					}
					delete(requests, name)
					value := deref[exampleObject](t, doc, raw).Value
					compareExample(t, doc, response, status, name, value, r.send(t))
				})
			}
		}
		for name := range requests {
			t.Errorf("%s: no response to the request example %s", op.OperationID, name)
		}
	}
	for key := range left {
		t.Errorf("there is no example %s", key)
	}
}

// requestExamples returns the names of an operation's own request examples.
// Those of parameters in components may be another operation's.
func requestExamples(t *testing.T, doc *document, op *operationObject) map[string]bool {
	names := map[string]bool{}
	for _, raw := range op.Parameters {
		for name := range decode[parameterObject](t, raw).Examples {
			names[name] = true
		}
	}
	for name := range op.RequestBody.Content["application/json"].Examples {
		names[name] = true
	}
	return names
}

// newReplay returns the request for the examples of that name.
func newReplay(t *testing.T, doc *document, where string, op *operationObject, name string) *replay {
	method, path, _ := strings.Cut(where, " ")
	r := &replay{method: method, path: path, pets: len(examplePets), fields: map[string]string{
		"Authorization": "Bearer <API_KEY>",
		"X-Request-ID":  "2f6c1a4e-7d1b-4c0c-9f3e-5b7a0d9e8c11",
	}}
	query := url.Values{}
	for _, raw := range op.Parameters {
		p := deref[parameterObject](t, doc, raw)
		value := p.named(t, doc, name)
		if value == nil && p.In != "query" {
			value = p.named(t, doc, base(op))
		}
		switch {
		case value == nil:
		case p.In == "query":
			query.Set(p.Name, fmt.Sprint(value))
		case p.In == "path":
			r.path = strings.Replace(r.path, "{"+p.Name+"}", fmt.Sprint(value), 1)
		default:
			r.fields[p.Name] = fmt.Sprint(value)
		}
	}
	r.query = query.Encode()
	bodies := op.RequestBody.Content["application/json"].Examples
	if len(bodies) > 0 {
		if bodies[name] == nil {
			name = base(op)
		}
		r.body = string(deref[exampleObject](t, doc, bodies[name]).Value)
		r.fields["Content-Type"] = "application/json"
	}
	return r
}

// base returns the name of the examples that stand in for missing ones.
func base(op *operationObject) string {
	if op.OperationID == "submitMessage" {
		return "greeting"
	}
	return "pet"
}

// named returns the example of that name, otherwise the one for all, otherwise
// nil.
func (e examples) named(t *testing.T, doc *document, name string) any {
	if raw, ok := e.Examples[name]; ok {
		return decode[any](t, deref[exampleObject](t, doc, raw).Value)
	}
	return e.Example
}

// compareExample compares a response with an example, and its header fields with
// theirs. A field with examples for some responses only is absent from the
// others, unless it is required.
func compareExample(t *testing.T, doc *document, response responseObject, status, name string, value json.RawMessage, a response) {
	t.Helper()
	var body bytes.Buffer
	if err := json.Compact(&body, value); err != nil {
		t.Fatal(err)
	}
	if strconv.Itoa(a.status) != status || a.body != body.String() {
		t.Errorf("status %d; body (-want +got):\n%s", a.status, cmp.Diff(body.String(), a.body))
	}
	for _, field := range slices.Sorted(maps.Keys(response.Headers)) {
		header := deref[headerObject](t, doc, response.Headers[field])
		want := header.named(t, doc, name)
		switch got := a.header.Get(field); {
		case want == nil && header.Required:
			t.Errorf("%s: no example of a required header field", field)
		case want == nil && got != "", want != nil && got != fmt.Sprint(want):
			t.Errorf("%s: %q, but the example is %v", field, got, want)
		}
	}
}
