package openapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/testserver"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// stricter has the requests that the handler refuses and the validator does not: a
// pattern of the Error's message, and the reason.
var stricter = map[string]string{
	`duplicate object member name`:                     "the validator's JSON decoder takes the last one",
	`invalid UTF-8`:                                    "the validator's JSON decoder replaces it",
	`invalid surrogate pair`:                           "the validator's JSON decoder replaces it",
	`after top-level value`:                            "the validator's JSON decoder stops at the object's end",
	`^categoryId: must be a 64-bit integer`:            "1.0 and integers of more bits are integers to JSON Schema; the document says so in words",
	`^limit: must be an integer from 1 to 100`:         "the validator reads signs and fractions",
	`^(limit|status|cursor): must be given only once$`: "the validator takes the first one; the document says so in words",
	`^cursor: must be one that this service returned$`: "only the service knows",
	`^query: malformed`:                                "the validator ignores what it cannot parse",
}

// TestAgreement: the handler and the document agree on every request of the
// conformance suite and on those with fieldValues. Each response is documented. The
// handler accepts what the document allows, and refuses what it forbids.
func TestAgreement(t *testing.T) {
	j := newJudge(t)
	store := memory.New(nil)
	h := httpapi.New(store, testserver.Authenticator, &httpapi.Options{Messages: store})
	var mu sync.Mutex
	unused, judged := maps.Clone(stricter), 0
	judge := func(r *http.Request, body []byte, rec *httptest.ResponseRecorder) {
		mu.Lock()
		defer mu.Unlock()
		judged++
		invalid, err := j.check(r, body, rec)
		if err != nil {
			t.Errorf("%s %.300s: %d %v\n%.300s\n%v", r.Method, r.URL, rec.Code, rec.Header(), rec.Body, err)
		}
		switch refused := rec.Code == http.StatusBadRequest || rec.Code == http.StatusUnsupportedMediaType; {
		case rec.Code < 300 && invalid != nil:
			t.Errorf("%s %.300s %v %.300s was accepted, but the document forbids it: %v", r.Method, r.URL, r.Header, body, invalid)
		case refused && invalid == nil && r.Method != http.MethodHead:
			pattern := reasonFor(rec.Body.Bytes())
			delete(unused, pattern)
			if pattern == "" {
				t.Errorf("%s %.300s %v %.300s was refused, but the document allows it: %.300s", r.Method, r.URL, r.Header, body, rec.Body)
			}
		}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		testserver.Changed(h, func(r *http.Request, rec *httptest.ResponseRecorder) { judge(r, body, rec) }).ServeHTTP(w, r)
	})
	conformancetest.RunHandler(t, func(*testing.T) http.Handler { return handler }, conformance.Target{MessagesURL: "/", Key: testserver.Key},
		&conformance.Options{Timeout: 5 * time.Minute}) // the machine may be busy
	for field, values := range fieldValues {
		for _, value := range values {
			r := httptest.NewRequest("POST", "/messages", strings.NewReader(`{"message":"hello"}`))
			r.Header = http.Header{"Authorization": {"Bearer " + testserver.Key}, "Content-Type": {"application/json"}}
			r.Header.Set(field, value)
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	t.Logf("%d exchanges", judged)
	for pattern := range unused {
		t.Errorf("nothing was refused with %s", pattern)
	}
}

// fieldValues has values of header fields, some valid and some not, for which
// the document has a pattern or a list.
var fieldValues = map[string][]string{
	"Content-Type": {
		"application/json; charset=utf-8", "APPLICATION/JSON", "text/plain", "application/x-www-form-urlencoded", "application/vnd.api+json", "*/*",
	},
	"Idempotency-Key": {
		"", "k", `"a b"`, "a b", `""`, `"k`, `a"b`, `"a\"b\\"`, `"a\b"`, "a\tb", "!#~", "é", strings.Repeat("k", 255), strings.Repeat("k", 256),
		`"` + strings.Repeat(`\"`, 255) + `"`, `"` + strings.Repeat("k", 256) + `"`,
	},
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

// TestFaultsFound: the judge finds what differs from the document.
func TestFaultsFound(t *testing.T) {
	j := newJudge(t)
	store := memory.New(nil)
	h := httpapi.New(store, testserver.Authenticator, nil)
	for name, c := range map[string]struct {
		line   string
		change func(*httptest.ResponseRecorder)
	}{
		"status": {"GET /pets", func(rec *httptest.ResponseRecorder) { rec.Code = 202 }},
		"another error": {"GET /pets/1", func(rec *httptest.ResponseRecorder) {
			rec.Code = 429
			rec.Body = bytes.NewBufferString(`{"code":"unavailable","message":"m","status":429}`)
		}},
		"another member": {"GET /pets/1", func(rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString(`{"code":"not_found","message":"m","status":404,"x":1}`)
		}},
		"unknown code": {"GET /pets/1", func(rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString(`{"code":"gone_away","message":"m","status":404}`)
		}},
		"no body":                {"GET /pets", func(rec *httptest.ResponseRecorder) { rec.Body.Reset() }},
		"a body for HEAD":        {"HEAD /pets", func(rec *httptest.ResponseRecorder) { rec.Body.WriteString("[]") }},
		"field not described":    {"GET /pets", func(rec *httptest.ResponseRecorder) { rec.Header().Set("Server", "x") }},
		"Sunset of another date": {"GET /pets/1", func(rec *httptest.ResponseRecorder) { rec.Header().Set("Sunset", "Fri, 06 Dec 2030 00:00:00 GMT") }},
		"Allow without HEAD":     {"PUT /pets", func(rec *httptest.ResponseRecorder) { rec.Header().Set("Allow", "GET, POST") }},
	} {
		method, target, _ := strings.Cut(c.line, " ")
		r := httptest.NewRequest(method, target, nil)
		r.Header.Set("Authorization", "Bearer "+testserver.Key)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if _, err := j.check(r, nil, rec); err != nil {
			t.Errorf("%s: before the change: %v", name, err)
		}
		c.change(rec)
		if _, err := j.check(r, nil, rec); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}
