package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore/httpapi"
)

// stricter is what the handler refuses in requests that the validator finds
// nothing wrong with, by the Error's message and with the reason.
var stricter = map[string]string{
	`duplicate object member name$`:                    "the validator's JSON decoder takes the last one",
	`invalid UTF-8$`:                                   "the validator's JSON decoder replaces it",
	`invalid surrogate pair`:                           "the validator's JSON decoder replaces it",
	`^body: there is more after the JSON object`:       "the validator's JSON decoder stops at the object's end",
	`^body: broke off`:                                 "the connection's fault",
	`^categoryId: .* without fraction or exponent$`:    "1.0 is an integer to JSON Schema; the document says so in words",
	`^categoryId: must be an integer from -9`:          "the document has no bounds that tools would round; the format says it",
	`^limit: must be an integer from 1 to 100`:         "the validator reads signs and fractions",
	`^(limit|status|cursor): must be given only once$`: "the validator takes the first one; the document says so in words",
	`^cursor: must be one that this service returned$`: "only the service knows",
	`^query: malformed`:                                "the validator ignores what it cannot parse",
	`^name: (too rude|must not be empty|\x{FFFD}<\n)$`: "a rule of a service or of an embedder in the tests",
}

// skipped are exchanges that say nothing about the handler, with the reason.
func skipped(d *description, x exchange) bool {
	route, _ := d.find(x)
	switch {
	case strings.HasPrefix(x.Test, "TestWriteError"):
		return true // the server around the handler responds
	case strings.HasPrefix(x.Test, "TestPathsOfHandlers"):
		return true // its handlers serve a part of the document
	case strings.HasPrefix(x.Test, "TestForeignCursor"):
		return true // its store has cursors of another form
	case strings.Contains(x.Target, "/api/v1/"):
		return true // mounted under a prefix
	case strings.Contains(x.Test, "OfMiddleware"):
		return true // middleware adds a header field
	case strings.HasPrefix(x.Test, "TestStoreErrors"):
		// Its store returns every error from every operation, also errors that
		// the interface excludes.
		return route.Operation.Responses.Status(x.Status) == nil
	}
	return false
}

// TestAgreement: every response in the tests of package httpapi is documented,
// and every documented response occurs in a test.
func TestAgreement(t *testing.T) {
	d := loadDescription(t, httpapi.OpenAPI())
	all := recordExchanges(t)
	seen, unused := newCoverage(), maps.Clone(stricter)
	checked := 0
	for _, x := range all {
		if skipped(d, x) {
			continue
		}
		checked++
		invalid, err := d.check(x)
		if err != nil {
			t.Errorf("%s: %s %.300s: %d %s %v\n%.300s\n%v", x.Test, x.Method, x.Target, x.Status, http.StatusText(x.Status), x.Header, x.Body, err)
		}
		seen.add(d, x)
		switch refused := x.Status == http.StatusBadRequest || x.Status == http.StatusUnsupportedMediaType; {
		case x.Status < 300 && invalid != nil:
			t.Errorf("%s: %s %.300s %.300s was accepted, but the document forbids it: %v", x.Test, x.Method, x.Target, x.RequestBody, invalid)
		case refused && invalid == nil && x.Method != http.MethodHead:
			if pattern := reasonFor(x.Body); pattern == "" {
				t.Errorf("%s: %s %.300s %.300s was refused, but the document allows it: %.300s", x.Test, x.Method, x.Target, x.RequestBody, x.Body)
			} else {
				delete(unused, pattern)
			}
		}
	}
	t.Logf("%d exchanges recorded, %d of them checked", len(all), checked)
	for _, what := range seen.missing(d) {
		t.Errorf("the document has %s, which occurs in no test", what)
	}
	for pattern := range unused {
		t.Errorf("nothing was refused with %s", pattern)
	}
}

// reasonFor returns the pattern in stricter that an Error's message matches.
func reasonFor(body []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	for pattern := range stricter {
		if regexp.MustCompile(pattern).MatchString(e.Message) {
			return pattern
		}
	}
	return ""
}

// coverage is the set of what exchanges have shown.
type coverage map[string]bool

func newCoverage() coverage { return coverage{} }

func (c coverage) add(d *description, x exchange) {
	route, _ := d.find(x)
	op := route.Operation.OperationID
	c[fmt.Sprintf("%s %d", op, x.Status)] = true
	for name := range x.Header {
		c[fmt.Sprintf("%s %d %s", op, x.Status, name)] = true
	}
	var e struct{ Code string }
	if x.Status >= 400 && json.Unmarshal(x.Body, &e) == nil {
		c["code "+e.Code] = true
	}
}

// missing returns the statuses, header fields and codes of the document that
// have not been seen.
func (c coverage) missing(d *description) (missing []string) {
	note := func(what string) {
		if !c[what] {
			missing = append(missing, what)
		}
	}
	for _, item := range d.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				note(op.OperationID + " " + status)
				for name := range response.Value.Headers {
					note(op.OperationID + " " + status + " " + http.CanonicalHeaderKey(name))
				}
			}
		}
	}
	for _, code := range d.doc.Components.Schemas["ErrorCode"].Value.Enum {
		note(fmt.Sprint("code ", code))
	}
	slices.Sort(missing)
	return missing
}

// TestChecksBite: the checks find what differs from the document.
func TestChecksBite(t *testing.T) {
	d := loadDescription(t, httpapi.OpenAPI())
	response := func(status int, body string, fields ...string) exchange {
		x := exchange{Method: "GET", Target: "/pets/1", Status: status, Body: []byte(body), RequestHeader: http.Header{}, Header: http.Header{
			"Content-Type": {"application/json"}, "Deprecation": {"@1"}, "Sunset": {"Thu, 05 Dec 2030 00:00:00 GMT"},
			"Link": {`<../pets>; rel="successor-version"`}, "X-Request-Id": {"1"},
		}}
		for i := 0; i < len(fields); i += 2 {
			x.Header.Set(fields[i], fields[i+1])
			if fields[i+1] == "" {
				x.Header.Del(fields[i])
			}
		}
		return x
	}
	const pet, gone = `{"id":1,"name":"Bella","categoryId":1}`, `{"code":"gone","message":"gone","status":410}`
	for name, c := range map[string]struct {
		x   exchange
		bad bool
	}{
		"good":                       {response(200, pet), false},
		"good error":                 {response(410, gone, "X-Request-Id", "1"), false},
		"status":                     {response(202, pet), true},
		"another member":             {response(200, `{"id":1,"name":"Bella","categoryId":1,"age":3}`), true},
		"missing member":             {response(200, `{"id":1,"name":"Bella"}`), true},
		"null member":                {response(200, `{"id":1,"name":"Bella","categoryId":1,"status":null}`), true},
		"unknown status":             {response(200, `{"id":1,"name":"Bella","categoryId":1,"status":"gone"}`), true},
		"fraction":                   {response(200, `{"id":1.5,"name":"Bella","categoryId":1}`), true},
		"array":                      {response(200, "["+pet+"]"), true},
		"no body":                    {response(200, ""), true},
		"another type":               {response(200, pet, "Content-Type", "text/plain"), true},
		"header field missing":       {response(200, pet, "Sunset", ""), true},
		"header field with other":    {response(200, pet, "Sunset", "Fri, 06 Dec 2030 00:00:00 GMT"), true},
		"header field not described": {response(200, pet, "Server", "x"), true},
		"no request ID":              {response(200, pet, "X-Request-Id", ""), true},
		"error without ID":           {response(410, gone, "X-Request-Id", ""), true},
		"unknown code":               {response(410, `{"code":"went","message":"gone","status":410}`, "X-Request-Id", "1"), true},
		"member of Error":            {response(410, `{"code":"gone","message":"gone","status":410,"x":1}`, "X-Request-Id", "1"), true},
	} {
		if _, err := d.check(c.x); (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}

	other := exchange{Method: "PUT", Target: "/pets", Status: 405, RequestHeader: http.Header{}, Body: []byte(`{"code":"method_not_allowed","message":"m","status":405}`),
		Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}, "Allow": {"GET, HEAD, POST"}}}
	if _, err := d.check(other); err != nil {
		t.Errorf("405: %v", err)
	}
	other.Header.Set("Allow", "GET, POST")
	if _, err := d.check(other); err == nil {
		t.Error("405: an Allow field without HEAD was accepted")
	}

	seen := newCoverage()
	seen.add(d, response(200, pet))
	if slices.Contains(seen.missing(d), "getPet 200") || slices.Contains(seen.missing(d), "getPet 200 Sunset") ||
		!slices.Contains(seen.missing(d), "getPet 404") || !slices.Contains(seen.missing(d), "code gone") {
		t.Errorf("missing: %q", cmp.Diff(nil, seen.missing(d)))
	}
}
