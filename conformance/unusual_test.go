package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// unusualServers are conformant. Each does something that the contract allows and
// that a suite may not expect.
func unusualServers() []variant {
	everything := func(change func(object)) wrapper {
		w := objects(list, 200, change)
		for _, at := range []struct {
			op     string
			status int
		}{{create, 201}, {fetch, 200}, {submit, 202}, {create, 400}, {submit, 400}, {list, 401}, {create, 401}, {fetch, 401}, {submit, 401}, {fetch, 404}} {
			w = both(objects(at.op, at.status, change), w)
		}
		return w
	}
	after := func(t time.Time) conformance.Options {
		return conformance.Options{Now: func() time.Time { return t }}
	}
	removal := time.Date(2030, 12, 5, 12, 0, 0, 0, time.UTC)
	return []variant{
		{name: "more members in every response", http: everything(func(o object) {
			o["_links"], o["kind"], o["error"] = jsontext.Value(`{"self":[1,2]}`), quoted("thing"), jsontext.Value("null")
		})},
		{name: "white space in every response", http: responses("", func(res *response) {
			if v := jsontext.Value(res.body); v.Indent() == nil {
				res.body = []byte("\r\n\t " + string(v) + " \n\n")
			}
		})},
		{name: "escapes for everything that is not ASCII", http: responses("", func(res *response) { res.body = escaped(res.body) })},
		{name: "integers written with a fraction or an exponent", http: objects(list, 200, func(o object) {
			if len(o["id"]) < 10 {
				o["id"] = jsontext.Value(string(o["id"]) + ".0")
			}
			if s, ok := strings.CutSuffix(string(o["categoryId"]), "00"); ok && s != "" {
				o["categoryId"] = jsontext.Value(s + "E+02")
			}
		})},
		{name: "the status of an error is 4.0e2", http: set(create, 400, "status", "4.0e2")},
		{name: "members in random order", http: everything(func(object) {})},
		{name: "media types in capitals, with a parameter", http: responses("", func(res *response) { res.header.Set("Content-Type", `Application/JSON; Charset="UTF-8"`) })},
		{name: "header fields in lower case", http: responses("", func(res *response) {
			for name, v := range res.header {
				delete(res.header, name)
				res.header[strings.ToLower(name)] = v
			}
		})},
		{name: "many header fields", http: responses("", func(res *response) {
			res.header.Set("ETag", `"x"`)
			res.header.Set("Set-Cookie", "a=b")
			res.header.Set("Link", `</docs>; rel="help", </docs>; rel="nextish"`)
			res.header.Set("X-Request-Id", strings.Repeat("x", 500))
		})},
		{name: "every response chunked", http: flushed},
		{name: "every connection is closed", http: responses("", func(res *response) { res.header.Set("Connection", "close") })},
		{name: "HTTP/1.0", http: http10},
		{name: "no Date", http: responses("", func(res *response) { res.header["Date"] = nil })},
		{name: "slow responses", http: slow},
		{name: "429 sometimes", http: interrupted(sometimes, 429, func() string { return "0" })},
		{name: "429 for a second, once", http: interrupted(once, 429, inASecond)},
		{name: "503 sometimes", http: interrupted(sometimes, 503, nil)},

		{name: "ids that are random and huge", http: mappedIDs(func(n int64) int64 { return n*0x5DEECE66D ^ 0x3FFFFFFFFFFFFFF5 })},
		{name: "ids that are negative", http: mappedIDs(func(n int64) int64 { return -n })},
		{name: "ids that start beyond 2^53", http: largeIDs()},
		{name: "lists in descending order", pets: ordered(func(p []petstore.Pet) { slices.Reverse(p) })},
		{name: "lists in random order", pets: ordered(func(p []petstore.Pet) { rand.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] }) })},
		{name: "lists by name", pets: ordered(func(p []petstore.Pet) {
			slices.SortFunc(p, func(a, b petstore.Pet) int { return strings.Compare(a.Name, b.Name) })
		})},
		{name: "a store full of pets", pets: filled(700)},
		{name: "a store full of pets, the newest first", pets: func(s petstore.Service) petstore.Service {
			return ordered(func(p []petstore.Pet) { slices.Reverse(p) })(filled(350)(s))
		}},
		{name: "a store with a hundred pets", pets: filled(100)},
		{name: "a store with 99 pets", pets: filled(99)},
		{name: "a store with large pets, whose pages end early", pets: large},
		{name: "other clients add pets", pets: thronged(1, 1)},

		{name: "the default status is available", http: defaults(create, "status", `"available"`)},
		{name: "the default status is sold", http: defaults(create, "status", `"sold"`)},
		{name: "unknown members are refused", http: refuses(create, 400, `"color"|"id"`)},
		{name: "1.0 and 1e2 are integers", http: members(create, func(o object) {
			if s := string(o["categoryId"]); strings.HasSuffix(s, ".0") || s == "1e2" {
				o["categoryId"] = jsontext.Value("100")
			}
		})},
		{name: "strict rules for names", options: httpapi.Options{Validate: strictNames}},
		{name: "categories must exist, and the options name one", options: httpapi.Options{Validate: knownCategories(42)}, opts: withCategory(42)},
		{name: "categories must exist, and a pet has one", options: httpapi.Options{Validate: knownCategories(5)}, pets: filled(3)},
		{name: "categories must exist, and 1 does", options: httpapi.Options{Validate: knownCategories(1)}},
		{name: "categories are positive", options: httpapi.Options{Validate: func(_ context.Context, n petstore.NewPet) error {
			if n.CategoryID <= 0 {
				return petstore.Errorf(petstore.CodeInvalid, "categoryId: must be positive")
			}
			return nil
		}}},
		{name: "the same pet twice gets 409", http: uniqueNames},
		{name: "any Content-Type is accepted", http: requests(create, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })},
		{name: "limits out of range are clamped", http: values(func(q url.Values) {
			if n, err := strconv.Atoi(q.Get("limit")); err == nil {
				q.Set("limit", strconv.Itoa(min(max(n, 1), 100)))
			}
		})},
		{name: "malformed queries are ignored", http: values(func(q url.Values) {
			if n, err := strconv.Atoi(q.Get("limit")); err != nil || n < 1 || n > 100 {
				q.Del("limit")
			}
			if !slices.Contains(petstore.Statuses(), petstore.Status(q.Get("status"))) {
				q.Del("status")
			}
		})},
		{name: "malformed ids get 400", http: responses(fetch, func(res *response) {
			if _, err := strconv.ParseInt(strings.TrimPrefix(res.request.URL.Path, "/v1/pets/"), 10, 64); err != nil && res.status == 404 {
				res.status, res.body = 400, []byte(`{"code":"bad","message":"no id","status":400}`)
			}
		})},
		{name: "only what the contract requires", http: spartan},
		{name: "a Sunset late on the day, in an obsolete format", http: header(fetch, 200, "Sunset", "Thursday, 05-Dec-30 23:59:59 GMT")},
		{name: "PUT is supported", http: status("PUT /v1/pets/{id}", 405, 200)},
		{name: "GET /pets/{petId} was removed as scheduled, with 410", http: status(fetch, 200, 410), opts: after(removal)},
		{name: "GET /pets/{petId} was removed as scheduled, with an HTML 404", http: responses(fetch, func(res *response) {
			res.status, res.body = 404, []byte("<h1>Not Found</h1>")
			res.header.Set("Content-Type", "text/html")
		}), opts: after(removal.AddDate(1, 0, 0))},
		{name: "GET /pets/{petId} still works after the scheduled day", opts: after(removal.AddDate(0, 0, 2))},

		{name: "a message gets 200", http: status(submit, 202, 200)},
		{name: "a message gets 201, with a Location", http: both(header(submit, 201, "Location", "/somewhere"), status(submit, 202, 201))},
		{name: "a message's record is text/plain", http: header(submit, 202, "Content-Type", "text/plain")},
		{name: "times with an offset of zero", http: times(func(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000000+00:00") })},
		{name: "times in the basic format", http: times(func(t time.Time) string { return t.Format("20060102T150405Z") })},
		{name: "times to the minute", http: times(func(t time.Time) string { return t.Format("2006-01-02T15:04Z") })},
		{name: "times with a comma", http: times(func(t time.Time) string { return t.Format("2006-01-02T15:04:05,123Z") })},
	}
}

// No unusual server fails a check.
func TestUnusual(t *testing.T) {
	for _, v := range unusualServers() {
		t.Run(strings.ReplaceAll(v.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			r := run(t, v, v.opts)
			if r.Outcome != conformance.Conformant {
				t.Errorf("%s\n%s", r.Headline(), text(r))
			}
			t.Logf("%d inconclusive, %d warnings", r.Counts.Inconclusive, r.Counts.Warn)
		})
	}
}

func TestHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(variant{}.handler())
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	var protos atomic.Int64
	transport := srv.Client().Transport
	r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1/", Key: testKey}, &conformance.Options{
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			res, err := transport.RoundTrip(r)
			if err == nil && res.ProtoMajor == 2 {
				protos.Add(1)
			}
			return res, err
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Conformant || protos.Load() == 0 {
		t.Errorf("%s, %d responses over HTTP/2\n%s", r.Headline(), protos.Load(), text(r))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// escaped returns b with escapes for all characters outside ASCII.
func escaped(b []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04X`, r)
		}
	}
	return out.Bytes()
}
