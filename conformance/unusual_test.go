package conformance_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// unusualServers are conformant. Each does something that the contract allows and
// that a suite may not expect, in addition to the difficulties of TestDifficult.
func unusualServers() []variant {
	every := func(change func(*response)) wrapper { return responses("", 0, change) }
	after := func(t time.Time) conformance.Options {
		return conformance.Options{Now: func() time.Time { return t }}
	}
	var n atomic.Int64
	removal := time.Date(2030, 12, 5, 12, 0, 0, 0, time.UTC)
	return []variant{
		{name: "integers written with a fraction or an exponent", http: both(
			edit(list, 200, `"id":(\d{1,9})\b`, `"id":$1.0`), edit(list, 200, `("categoryId":-?\d+)00\b`, `${1}E+02`))},
		{name: "the status of an error is 4.0e2", http: set(create, 400, "status", "4.0e2")},
		{name: "media types in capitals, with a parameter", http: every(func(res *response) { res.header.Set("Content-Type", `Application/JSON; Charset="UTF-8"`) })},
		{name: "many header fields", http: every(func(res *response) {
			res.header.Set("ETag", `W/"x"`)
			res.header.Set("Set-Cookie", "a=b")
			res.header.Set("Link", `</docs>; rel="help", </docs>; rel="nextish"`)
			res.header.Set("X-Request-Id", strings.Repeat("x", 500))
		})},
		{name: "HTTP/1.0", http: hangsUp("HTTP/1.0", false)},
		{name: "an error closes the connection", http: every(func(res *response) {
			if res.status >= 400 {
				res.header.Set("Connection", "close")
			}
		})},
		{name: "responses are compressed if they may be", http: responses(`.*\r\nAccept-Encoding: gzip\r\n`, 0, compress)},
		{name: "responses are compressed for every client", http: every(compress)},
		{name: "a client that says nothing about codings gets one that the suite does not know", http: every(func(res *response) {
			if res.request.Header.Get("Accept-Encoding") == "" {
				res.header.Set("Content-Encoding", "br")
				res.body = "\x0b\x02\x80" + res.body + "\x03"
			}
		})},
		{name: "text/html gets 406", http: responses(`.*\r\nAccept: text/html\r\n`, 0, func(res *response) { res.status, res.body = 406, failure(406) })},
		{name: "a charset gets 415, and an expectation 417", http: both(rejects(`.*\r\nAuthorization: .*\r\nContent-Type: application/json;`, 415), rejects(`.*\r\nAuthorization: .*\r\nExpect: `, 417))},
		{name: "connections close after each response, which does not say so", http: hangsUp("HTTP/1.1", true)},
		{name: "no two responses for a pet have the same length", http: responses(`^(GET|HEAD) /v1/pets/`, 200, func(res *response) { res.body += strings.Repeat(" ", int(n.Add(1)%1000)) })},
		{name: "no Date", http: header("", 0, "Date", "")},
		{name: "503 from a proxy sometimes", http: every(func(res *response) {
			if n.Add(1)%60 == 7 {
				*res = response{status: 503, header: http.Header{"Content-Type": {"text/plain"}}, body: "not now"}
			}
		})},

		{name: "lists show a pet half a second after it was added", pets: late(500 * time.Millisecond)},
		{name: "a store full of pets", pets: filled(700)},
		{name: "a store full of pets, the newest first", pets: func(s *store) {
			filled(350)(s)
			lists(func(pets []petstore.Pet) []petstore.Pet { slices.Reverse(pets); return pets })(s)
		}},
		{name: "a store with 99 pets", pets: filled(99)},
		{name: "a store with large pets, whose pages end early", pets: large},
		{name: "pages that end early and link to the next", pets: halved},
		{name: "pages that end early and link to the last, which is the next", pets: halved, http: nextPage("Link", `</v1/pets?page=2>; rel = "last next"`)},
		{name: "pages that end early and have a cursor", pets: halved, http: nextPage("X-Next-Cursor", "AQ")},
		{name: "a filter after the limit, and empty pages that link to the next", pets: filterLast},
		{name: "other clients replace their pets", pets: replacing},
		{name: "a proxy responds to unusual URLs and methods", http: proxied},
		{name: "other clients add pets", pets: thronged},

		{name: "the default status is available", pets: creates(func(n *petstore.NewPet) { n.Status = cmp.Or(n.Status, "available") })},
		{name: "unknown members are refused", http: both(rejects(create+`.*\r\nAuthorization: Bearer C.*("color"|"id"|"owner"|"Name")`, 400), refuses(submit+`.*("text"|"status")`, 202, 422))},
		{name: "a body of 1 MiB gets 413", http: refuses(create+`.*large large`, 400, 413)},
		{name: "the connection of a body of 1 MiB is dropped", http: where(create+`.*large large`, drops)},
		{name: "1.0 and 1e2 are integers", http: both(takes(create, `("categoryId":\d+)\.0\b`, "$1"), takes(create, `("categoryId":1)[eE]\+?2\b`, "${1}00"))},
		{name: "names have no spaces at their ends, no control characters, and at most 256 characters", options: names(func(s string) bool {
			return strings.TrimSpace(s) == s && s != "" && utf8.RuneCountInString(s) <= 256 && !strings.ContainsFunc(s, unicode.IsControl)
		})},
		{name: "names need a letter, and two characters", options: names(func(s string) bool { return len(s) > 1 && strings.ContainsFunc(s, unicode.IsLetter) })},
		{name: "names have at most 64 characters", options: names(func(s string) bool { return utf8.RuneCountInString(s) <= 64 })},
		{name: "names are of visible characters", options: names(func(s string) bool {
			const joiner = '\u200d' // many emoji have one
			return !strings.ContainsFunc(s, func(r rune) bool { return r != joiner && r != '\u00a0' && !unicode.IsPrint(r) })
		})},
		{name: "categories must exist, and the options name one", options: categories(func(n int64) bool { return n == 42 }), opts: withCategory(42)},
		{name: "categories must exist, and a pet has one", options: categories(func(n int64) bool { return n == 5 }), pets: filled(3)},
		{name: "categories must exist, and 1 does", options: categories(func(n int64) bool { return n == 1 })},
		{name: "categories are positive", options: categories(func(n int64) bool { return n > 0 })},
		{name: "the same pet twice gets 400", pets: refusesNames(petstore.CodeInvalid)},
		{name: "responses are lost, and the same pet twice gets 400", pets: refusesNames(petstore.CodeInvalid), http: losesResponses},
		{name: "the same message twice gets 409", http: onlyOnce},
		{name: "the same message twice is one message", http: remembersMessages},
		{name: "the same pet twice gets 400, and another run left its pets", pets: func(s *store) {
			refusesNames(petstore.CodeInvalid)(s)
			for _, name := range []string{"null", "constructor", "0042", "0", `"Rex"`, "👩\u200d👩\u200d👧🏽"} {
				mustCreate(s.create(context.Background(), petstore.NewPet{Name: name, CategoryID: 5}, petstore.Once{}))
			}
		}},
		{name: "a body that is cut short gets 400, with a key or without", http: rejects(`^POST .*\r\n\r\n\{"(name|message)":$`, 400)},
		{name: "any Content-Type is accepted", http: requests(create, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })},
		{name: "limits out of range are clamped", http: both(
			query(`limit=(0|-\d+)\b`, "limit=1"), query(`limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,})\b`, "limit=100"))},
		{name: "malformed queries are ignored", http: requests(list, func(r *http.Request) {
			q := r.URL.Query()
			if n, err := strconv.Atoi(q.Get("limit")); err != nil || n < 1 || n > 100 {
				q.Del("limit")
			}
			if !petstore.Status(q.Get("status")).Valid() {
				q.Del("status")
			}
			r.URL.RawQuery = q.Encode()
		})},
		{name: "an id may have zeros, a sign and spaces before it, and .0 after it", http: reads(`/[+ 0]*(-?\d+)(\.0| )?$`, "/$1")},
		{name: "malformed ids get 400", http: refuses(fetch+`([^ ]*[^-0-9 ][^ ]*|-?\d{20,}) `, 404, 400)},
		{name: "only what the contract requires", http: both(every(bare), both(strictScheme(list), strictScheme(submit)))},
		{name: "a Sunset late on the day, in an obsolete format", http: header(fetch, 200, "Sunset", "Thursday, 05-Dec-30 23:59:59 GMT")},
		{name: "PUT is supported", http: status("^PUT /v1/pets/", 405, 200)},
		{name: "GET /pets/{petId} was removed as scheduled, with 410", http: status(fetch, 200, 410), opts: after(removal)},
		{name: "GET /pets/{petId} was removed as scheduled, with an HTML 404", http: responses(fetch, 0, func(res *response) {
			res.status, res.body = 404, "<h1>Not Found</h1>"
			res.header.Set("Content-Type", "text/html")
		}), opts: after(removal.AddDate(1, 0, 0))},
		{name: "GET /pets/{petId} still works after the scheduled day", opts: after(removal.AddDate(0, 0, 2))},

		{name: "a message gets 201, with a Location", http: both(header(submit, 201, "Location", "/somewhere"), status(submit, 202, 201))},
		{name: "a message's record is text/plain", http: header(submit, 202, "Content-Type", "text/plain")},
		{name: "times in the basic format", http: times(func(t time.Time) string { return t.Format("20060102T150405Z") })},
		{name: "clocks half a second apart", http: times(func(t time.Time) string {
			return t.Add(time.Duration(n.Add(1)%2) * time.Second / 2).Format(time.RFC3339)
		})},
		{name: "the clock is corrected", http: corrected},
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
	t.Parallel()
	var others atomic.Int64
	h := requests("", func(r *http.Request) {
		if r.ProtoMajor != 2 {
			others.Add(1)
		}
	})
	srv := httptest.NewUnstartedServer(h(variant{}.handler()))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1/", Key: testKey}, &conformance.Options{Transport: srv.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() || others.Load() > 0 {
		t.Errorf("%s, %d requests not over HTTP/2\n%s", r.Headline(), others.Load(), text(r))
	}
}
