package petstoretest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rule finds one kind of mistake. A certain rule reports nothing if the clients do
// nothing wrong: not with many goroutines, not with several clients at once, and
// not with a proxy or an HTTP library that repeats a request where that is safe.
type rule struct {
	name         string
	proof        proof                              // how certain a mistake is that has no weigh function
	right        string                             // what would be right
	difficulties []string                           // the difficulties that cause the mistake
	find         func(*watcher, *exchange) *mistake // returns nil if there is no mistake
}

// rules holds all rules, the certain ones first.
var rules = []rule{
	{"repeated-without-key", certain, "Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.",
		[]string{"lost-response", "lost-request"}, repeatedWithoutKey},
	{"ignored-retry-after", certain, "Wait as long as Retry-After says before you repeat the request.",
		[]string{"too-many-requests", "unavailable"}, ignoredRetryAfter},
	{"own-cursor", certain, "The contract has no parameters for paging. To get the next page, follow the Link with rel=\"next\", if there is one.",
		[]string{"short-pages", "no-link", "link-elsewhere"}, ownCursor},
	{"rounded-integer", certain, "IDs are of format int64: keep them exactly, not as floating-point numbers or 32-bit integers.",
		[]string{"ids-huge"}, roundedInteger},
	{"key-sent-elsewhere", certain, "Send the API key only to the address that it belongs to, wherever a Link leads.",
		[]string{"link-elsewhere"}, keySentElsewhere},
	{"no-id", certain, "A pet is a JSON object with the member id, and a list is a bare array of pets.",
		nil, noID},
	{"wrapped-body", certain, "The body is the object itself, such as {\"name\":\"Rex\",\"categoryId\":1}.",
		nil, wrappedBody},
	{"created-again", doubtful, "A list has no particular order and at most 100 pets, so a pet may exist that is not in it.",
		[]string{"list-descending", "list-by-name", "list-random", "short-pages", "no-link"}, createdAgain},
	{"unknown-id", doubtful, "IDs need not be dense or positive: request only IDs that a response had.",
		[]string{"ids-huge", "ids-negative", "ids-sparse"}, unknownID},
	{"deprecated-operation", doubtful, "GET /pets/{petId} is scheduled for removal on 5 December 2030: use GET /pets with status.",
		nil, deprecatedOperation},
	{"refused", doubtful, "Send only parameters and bodies that the contract allows.",
		nil, refusedWith(http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)},
	{"unauthorized", doubtful, "Send the API key as Authorization: Bearer KEY.",
		nil, refusedWith(http.StatusUnauthorized)},
	{"no-such-operation", doubtful, "The operations are GET /pets, POST /pets, GET /pets/{petId} and POST /messages.",
		nil, noSuchOperation},
}

// keySentElsewhere finds a request to the other address with an API key in a header
// field or in the query.
func keySentElsewhere(w *watcher, x *exchange) *mistake {
	sent, _ := url.ParseQuery(x.query)
	for _, values := range slices.Concat(slices.Collect(maps.Values(sent)), slices.Collect(maps.Values(x.sent))) {
		for _, value := range values {
			key := value[strings.LastIndex(value, " ")+1:] // without a scheme such as Bearer
			if x.other && slices.Contains(w.keys, key) {
				return &mistake{did: "sent the API key to another host, which a Link named"}
			}
		}
	}
	return nil
}

// notIDs are texts that programs send instead of an ID that they do not have.
var notIDs = []string{"undefined", "null", "nan", "none", "nil", "<nil>", "[object object]", "{petid}", "{id}", ":petid", ":id"}

// noID finds a request for a pet whose ID the client does not have.
func noID(_ *watcher, x *exchange) *mistake {
	id, ok := x.petID()
	if !ok || !slices.Contains(notIDs, strings.ToLower(id)) {
		return nil
	}
	return &mistake{did: fmt.Sprintf("requested a pet with the ID %q, so it did not find the ID in a response", id)}
}

// wrappedBody finds a creation whose body has the pet or message one level too
// deep.
func wrappedBody(_ *watcher, x *exchange) *mistake {
	if !x.isCreate() {
		return nil
	}
	want := []string{"name", "categoryId"}
	if x.path == "/messages" {
		want = []string{"message"}
	}
	hasAny := func(v jsontext.Value) bool {
		var members map[string]jsontext.Value
		return json.Unmarshal(v, &members) == nil && slices.ContainsFunc(want, func(name string) bool { return members[name] != nil })
	}
	var inner []jsontext.Value
	var text string
	var members map[string]jsontext.Value
	in := ""
	switch {
	case hasAny(x.body):
		return nil
	case json.Unmarshal(x.body, &inner) == nil:
		in = "an array"
	case json.Unmarshal(x.body, &text) == nil:
		in, inner = "a string", []jsontext.Value{jsontext.Value(text)}
	case json.Unmarshal(x.body, &members) == nil:
		in = "another object"
		for _, v := range members {
			inner = append(inner, v)
		}
	}
	if !slices.ContainsFunc(inner, hasAny) {
		return nil
	}
	return &mistake{did: "sent the pet or message inside " + in}
}

// unknownID finds a request for an ID that no response had. It may be a test of
// 404.
func unknownID(w *watcher, x *exchange) *mistake {
	text, ok := x.petID()
	id, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || x.status != http.StatusNotFound || w.pets[id] != nil {
		return nil
	}
	did := fmt.Sprintf("requested pet %d, and no response had that ID", id)
	if w.pets[id-1] != nil {
		did += fmt.Sprintf(" (but one had %d: IDs may have gaps)", id-1)
	}
	return &mistake{did: did}
}

// deprecatedOperation finds a request for the deprecated operation.
func deprecatedOperation(_ *watcher, x *exchange) *mistake {
	if _, ok := x.petID(); !ok || !x.done {
		return nil
	}
	return &mistake{did: "used the deprecated operation GET /pets/{petId}"}
}

// refusedWith returns a function that finds responses with these statuses.
func refusedWith(statuses ...int) func(*watcher, *exchange) *mistake {
	return func(_ *watcher, x *exchange) *mistake {
		if x.other || !slices.Contains(statuses, x.status) {
			return nil
		}
		return &mistake{did: fmt.Sprintf("sent a request that was refused with %d %s", x.status, http.StatusText(x.status))}
	}
}

// noSuchOperation finds a request whose path or method is not in the contract.
func noSuchOperation(_ *watcher, x *exchange) *mistake {
	if id, ok := x.petID(); ok && id != "" || x.other || x.status != http.StatusNotFound && x.status != http.StatusMethodNotAllowed {
		return nil
	}
	return &mistake{did: fmt.Sprintf("sent %s %q, which is not an operation of the contract", x.method, x.path)}
}
