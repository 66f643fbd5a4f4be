package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// record passes r to h with a credential, without a server.
func record(t *testing.T, h http.Handler, r *http.Request) response {
	t.Helper()
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return readResponse(t, w.Result())
}

// perform is record, and checks what must hold for every response of these tests: an Error body with 400 and above, and never 5xx.
func perform(t *testing.T, h http.Handler, r *http.Request) response {
	t.Helper()
	got := record(t, h, r)
	if diff := (want{status: got.Status}).diff(got); diff != "" || got.Status >= 500 || got.Status >= 400 && len(got.Body) > 1000 {
		t.Fatalf("%.1000s\n(-want +got):\n%s", got.Body, diff)
	}
	return got
}

// FuzzBody compares the decoder with a naive one: both accept the same bodies,
// with the same values, and an accepted one is returned unchanged.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		rexBody, `{"name":"\ud83d\udc15","categoryId":-0,"status":"sold","x":[1,{"y":null}]}`,
		`{"name":"a","name":"b","categoryId":1}`, `{"name":"a","categoryId":9223372036854775808}`,
		`{"name":"a","categoryId":1.0}`, `{"name":"\udc15","categoryId":1}`, "{\"name\":\"\xff\",\"categoryId\":1}",
		`{"name":null,"categoryId":1}`, `{}`, `null`, `[]`, "", " ", `{"name":"a","categoryId":1} {}`,
		`{"x":{"y":1,"\u0079":2},"name":"","categoryId":0}`, `{"name":"a","categoryId":1,"status":""}`,
	} {
		f.Add(seed)
	}
	h := httpapi.New(new(onceService), testKeys, nil)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		got := perform(t, h, r)
		pet, ok := naiveNewPet(body)
		if !ok {
			if got.Status != 400 {
				t.Fatalf("%q: status %d, want 400: %s", body, got.Status, got.Body)
			}
			return
		}
		if returned, ok := naiveNewPet(got.Body); !ok || got.Status != 201 || returned != pet {
			t.Fatalf("%q: status %d %s, want %+v", body, got.Status, got.Body, pet)
		}
	})
}

// naiveNewPet decodes the body of createPet in the simplest way.
func naiveNewPet(body string) (p petstore.NewPet, ok bool) {
	v, ok := parseJSON(body)
	object, isObject := v.(map[string]any)
	name, hasName := object["name"].(string)
	number, hasNumber := object["categoryId"].(json.Number)
	category, err := strconv.ParseInt(string(number), 10, 64)
	if !ok || !isObject || !hasName || !hasNumber || err != nil {
		return p, false
	}
	p = petstore.NewPet{Name: name, CategoryID: category}
	if v, ok := object["status"]; ok {
		status, _ := v.(string)
		if !slices.Contains([]string{"available", "pending", "sold"}, status) {
			return p, false
		}
		p.Status = petstore.Status(status)
	}
	return p, true
}

// parseJSON parses RFC 8259 as the handler must: one value, valid UTF-8, no
// name twice, no lone surrogate. It shares no code with the decoder under test:
// encoding/json lacks the last three rules.
func parseJSON(s string) (value any, ok bool) {
	if !utf8.ValidString(s) || !json.Valid([]byte(s)) || hasLoneSurrogate(s) || hasDuplicate(json.NewDecoder(strings.NewReader(s))) {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	err := dec.Decode(&value)
	return value, err == nil
}

// escapes matches an escape in JSON, or two that are a pair of surrogates.
var escapes = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.`)

var surrogate = regexp.MustCompile(`^\\u[dD][89a-fA-F]..$`)

func hasLoneSurrogate(s string) bool {
	for _, escape := range escapes.FindAllString(s, -1) {
		if surrogate.MatchString(escape) {
			return true
		}
	}
	return false
}

// hasDuplicate reports whether an object in the next value of dec, which must be
// valid, has a name twice.
func hasDuplicate(dec *json.Decoder) bool {
	names := map[any]bool{}
	open, _ := dec.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	for dec.More() {
		if open == json.Delim('{') {
			name, _ := dec.Token()
			if names[name] {
				return true
			}
			names[name] = true
		}
		if hasDuplicate(dec) {
			return true
		}
	}
	_, _ = dec.Token() // the closing one
	return false
}
