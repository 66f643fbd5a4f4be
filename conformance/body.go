package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance/internal/probe"
)

// fault is what is wrong with the body of a request.
type fault struct {
	clause string // the clause that says how the target responds
	text   string // completes "the request has …"
}

// readNewPet returns the pet that the body of a request for POST /pets asks for, or
// what is wrong with the body. If the target may refuse the body or take it, exact is
// false: a member has a name that the contract does not name, or categoryId is
// written as 1e2.
func readNewPet(body []byte) (n newPet, exact bool, wrong *fault) {
	o, wrong := readBody(body, "create-body")
	if wrong != nil {
		return n, false, wrong
	}
	for _, name := range []string{"name", "categoryId"} {
		if o[name] == nil {
			return n, false, &fault{"create-required", "no " + name}
		}
	}
	var noName, noCategory, noStatus error
	n.Name, noName = o.Str("name")
	n.Category, noCategory = o.Int64("categoryId")
	n.Status, noStatus = o.Str("status")
	err := cmp.Or(noName, noCategory)
	if status, ok := o["status"]; ok && err == nil {
		switch {
		case status.Kind() == 'n':
			return n, false, &fault{"status-null", "null for the status"}
		case noStatus == nil && !slices.Contains(statuses(), n.Status):
			return n, false, &fault{"status-values", fmt.Sprintf("the status %q", n.Status)}
		}
		err = noStatus
	}
	if err != nil {
		return n, false, &fault{"create-values", "a wrong value, " + err.Error()}
	}
	exact = !bytes.ContainsAny(o["categoryId"], ".eE") && string(o["categoryId"]) != "-0"
	for name := range o {
		exact = exact && slices.Contains([]string{"name", "categoryId", "status"}, name)
	}
	return n, exact, nil
}

// readMessage returns the text that a request for POST /messages submits, or what is
// wrong with the request.
func readMessage(r probe.Request) (text string, exact bool, wrong *fault) {
	o, wrong := readBody(r.Body, "message-json")
	switch {
	case wrong != nil:
		return "", false, wrong
	case o["message"] == nil:
		return "", false, &fault{"message-required", "no message"}
	}
	text, err := o.Str("message")
	switch {
	case err != nil:
		return "", false, &fault{"message-required", "a wrong value, " + err.Error()}
	case r.ContentType == "":
		return "", false, &fault{"message-type", "no Content-Type"}
	}
	return text, len(o) == 1, nil
}

// readBody returns the object in the body of a request. clause is the one that is
// broken if there is none.
func readBody(body []byte, clause string) (probe.Object, *fault) {
	v := jsontext.Value(body)
	switch o, err := probe.ParseObject(v); {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, &fault{clause, "no body"}
	case !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return nil, &fault{clause, "a body that is not JSON"}
	case err != nil:
		return nil, &fault{clause, "a body that " + err.Error()}
	case !v.IsValid(jsontext.AllowDuplicateNames(true)):
		return nil, &fault{"rfc-utf8", "a text that UTF-8 cannot encode"}
	case !v.IsValid():
		return nil, &fault{"rfc-duplicates", "a name twice in an object"}
	default:
		return o, nil
	}
}
