package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// document has the parts of the OpenAPI document that these tests check. Parts
// that may be references are raw, for deref.
type document struct {
	OpenAPI    string
	Info       struct{ Version, Description string }
	Security   []map[string][]string
	Servers    []serverObject
	Paths      map[string]pathItem
	Components map[string]map[string]json.RawMessage
}

type serverObject struct{ URL string }

type pathItem struct {
	Servers                                             []serverObject
	Get, Put, Post, Delete, Options, Head, Patch, Trace *operationObject
}

type operationObject struct {
	OperationID string
	Tags        []string
	Deprecated  bool
	Security    any
	Parameters  []json.RawMessage
	RequestBody struct{ Content map[string]mediaType }
	Responses   map[string]json.RawMessage
}

type parameterObject struct {
	Name, In string
	Schema   map[string]any
	examples
}

type responseObject struct {
	Headers map[string]json.RawMessage
	Content map[string]mediaType
	Links   map[string]linkObject
}

type linkObject struct {
	OperationID string
	Parameters  map[string]string
}

type headerObject struct {
	Required bool
	examples
}

type mediaType struct{ examples }

type examples struct {
	Example  any                        // for all
	Examples map[string]json.RawMessage // by name
}

type exampleObject struct{ Value json.RawMessage }

func parseDocument(t testing.TB, b []byte) *document {
	t.Helper()
	return decode[*document](t, b)
}

func decode[T any](t testing.TB, b []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %.200s", err, b)
	}
	return v
}

// deref decodes an object that may be a reference to one of the components.
func deref[T any](t testing.TB, d *document, raw json.RawMessage) T {
	t.Helper()
	if ref := decode[struct {
		Ref string `json:"$ref"`
	}](t, raw).Ref; ref != "" {
		kind, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
		raw = d.Components[kind][name]
		if raw == nil {
			t.Fatalf("%s refers to nothing", ref)
		}
	}
	return decode[T](t, raw)
}

// operations returns the operations by method and path.
func (d *document) operations() map[string]*operationObject {
	m := map[string]*operationObject{}
	for path, item := range d.Paths {
		for method, op := range map[string]*operationObject{
			"GET": item.Get, "PUT": item.Put, "POST": item.Post, "DELETE": item.Delete,
			"OPTIONS": item.Options, "HEAD": item.Head, "PATCH": item.Patch, "TRACE": item.Trace,
		} {
			if op != nil {
				m[method+" "+path] = op
			}
		}
	}
	return m
}

func ourDocument(t testing.TB) *document { return parseDocument(t, httpapi.OpenAPI()) }
