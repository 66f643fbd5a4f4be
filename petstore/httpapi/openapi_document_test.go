package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
)

// document has the parts of the OpenAPI document that these tests check.
type document struct {
	OpenAPI    string
	Info       struct{ Version, Description string }
	Security   []map[string][]string
	Servers    []object
	Paths      map[string]map[string]object // by method
	Components map[string]map[string]object
}

// object is any object of the document, with the fields of all kinds of them. One
// that may be a reference is to be looked up with deref.
type object struct {
	Ref string `json:"$ref"`

	// Of operations:
	OperationID string
	Tags        []string
	Deprecated  bool
	Security    any
	Parameters  []object
	RequestBody struct{ Content map[string]object }
	Responses   map[string]object

	// Of parameters, responses and header fields:
	Name, In string
	Required any
	Schema   map[string]any
	Headers  map[string]object
	Content  map[string]object // by media type
	Links    map[string]link
	Example  any               // for all
	Examples map[string]object // by name
	Value    json.RawMessage   // of an example

	URL  string // of servers
	Enum []any  // of schemas
}

type link struct {
	OperationID string
	Parameters  map[string]string
}

func ourDocument(t testing.TB) *document { return decode[*document](t, httpapi.OpenAPI()) }

func decode[T any](t testing.TB, b []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %.200s", err, b)
	}
	return v
}

// deref returns o, or the component that it refers to.
func (d *document) deref(o object) object {
	kind, name, _ := strings.Cut(strings.TrimPrefix(o.Ref, "#/components/"), "/")
	if component, ok := d.Components[kind][name]; ok {
		return component
	}
	return o
}

// operations returns the operations by method and path.
func (d *document) operations() map[string]object {
	all := map[string]object{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			all[strings.ToUpper(method)+" "+path] = op
		}
	}
	return all
}

// example returns the example of that name, otherwise the one for all, otherwise
// "".
func (d *document) example(t testing.TB, o object, name string) string {
	t.Helper()
	value := o.Example
	if named, ok := o.Examples[name]; ok {
		value = decode[any](t, d.deref(named).Value)
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
