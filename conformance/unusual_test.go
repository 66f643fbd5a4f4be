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
	"example.com/animalstore/petstore/petstoretest"
)

// unusualServers are conformant. Each does something that the contract allows and
// that a suite may not expect, in addition to the difficulties of TestDifficult.
func unusualServers() []variant {
	every := func(change func(*response)) wrapper { return responses("", 0, change) }
	var n atomic.Int64
	removal := time.Date(2030, 12, 5, 12, 0, 0, 0, time.UTC)
	return []variant{
		{name: "integers have a fraction or an exponent, pets without a status get each in turn, and clocks are half a second apart", http: all(
			edit(list, 200, `"id":(\d{1,9})\b`, `"id":$1.0`), edit(list, 200, `("categoryId":-?\d+)00\b`, `${1}E+02`), set(create, 400, "status", "4.0e2"),
			times(func(t time.Time) string {
				return t.Add(time.Duration(n.Add(1)%2) * time.Second / 2).Format("2006-01-02T15:04:05,000Z")
			})), pets: creates(func(pet *petstore.NewPet) {
			if pet.Status == "" {
				pet.Status = petstore.Statuses()[n.Add(1)%3]
			}
		})},
		{name: "media types are in capitals, there are many fields, but no Date, and times have the resolution of a minute", http: all(every(func(res *response) {
			res.header.Set("Content-Type", `Application/JSON; Charset="UTF-8"`)
			res.header["Date"] = nil
			res.header.Set("ETag", `W/"x"`)
			res.header.Set("Set-Cookie", "a=b")
			res.header.Set("Link", `</docs>; rel="help", </docs>; rel="nextish"`)
			res.header.Set("X-Request-Id", strings.Repeat("x", 500))
		}), times(func(t time.Time) string { return t.Truncate(time.Minute).Format(time.RFC3339) }))},
		{name: "HTTP/1.0, and a message gets 201 and text/plain, with a Location and a time in the basic format", http: all(hangsUp("HTTP/1.0", false),
			header(submit, 201, "Location", "/somewhere"), header(submit, 201, "Content-Type", "text/plain"), status(submit, 202, 201),
			times(func(t time.Time) string { return t.Format("20060102T150405Z") }))},
		{name: "connections close after each response, which does not say so, and ids start at 0, and may have zeros before them",
			http: all(hangsUp("HTTP/1.1", true), reads(`/0+(\d+)$`, "/$1"), fromZero)},
		{name: "an error closes the connection, and names have no spaces at their ends, no control characters, and at most 256 characters", http: every(func(res *response) {
			if res.status >= 400 {
				res.header.Set("Connection", "close")
			}
		}), options: names(func(s string) bool {
			return strings.TrimSpace(s) == s && s != "" && utf8.RuneCountInString(s) <= 256 && !strings.ContainsFunc(s, unicode.IsControl)
		})},
		// 411 is the default of WSGI servers, and of some proxies.
		{name: "responses are compressed, a body in chunks gets 411, and names have a letter, 2 to 64 characters, and only visible ones", http: all(
			every(compress), rejects(`\r\nTransfer-Encoding: chunked\r`, 411)), options: names(func(s string) bool {
			const joiner = '\u200d' // many emoji have one
			return len(s) > 1 && strings.ContainsFunc(s, unicode.IsLetter) && utf8.RuneCountInString(s) <= 64 &&
				!strings.ContainsFunc(s, func(r rune) bool { return r != joiner && r != '\u00a0' && !unicode.IsPrint(r) })
		})},
		// The media types of requests are compared so by default in gin, hono and mojo.
		{name: "a client that says nothing about codings gets one that the suite does not know, media types are compared byte by byte, with the charset or not, and the only category is 1", http: all(every(func(res *response) {
			if res.request.Header.Get("Accept-Encoding") == "" {
				res.header.Set("Content-Encoding", "br")
				res.body = "\x0b\x02\x80" + res.body + "\x03"
			}
		}), rejects(`^POST .*\r\nContent-Type: Application/JSON\r`, 415)), options: only(1)},
		{name: "503 from a proxy sometimes", http: every(func(res *response) {
			if n.Add(1)%60 == 7 {
				*res = response{status: 503, header: http.Header{"Content-Type": {"text/plain"}}, body: "not now"}
			}
		})},
		{name: "a proxy responds to unusual URLs and to what looks like a script, and of the categories that pets have, 1 does not exist any more", http: proxied, options: only(5), pets: func(s *store) {
			for _, category := range []int64{1, 5} {
				mustCreate(s.DoCreatePet(context.Background(), petstore.NewPet{Name: "Rex", CategoryID: category}, petstore.IdempotencyKey{}))
			}
		}},
		{name: "only what the contract requires, and categories are positive", http: all(every(func(res *response) {
			for _, name := range []string{"Location", "Allow", "Www-Authenticate", "Sunset", "Deprecation", "Link"} {
				delete(res.header, name)
			}
		}), strictScheme), options: valid(func(n petstore.NewPet) bool { return n.CategoryID > 0 })},
		{name: "lists show a pet almost two seconds after it was added, and the same message twice is one message", pets: late(1900 * time.Millisecond), http: repeats(submit, 202)},
		{name: "1 MiB gets no response, and a body that is cut short 400 with a key or without", http: all(
			where(create+`.*aaaaa`, drops), rejects(`^POST .*\r\n\r\n\{"$`, 400))},
		{name: "a store full of pets, the newest first", pets: func(s *store) {
			filled(350)(s)
			lists(func(pets []petstore.Pet) []petstore.Pet { slices.Reverse(pets); return pets })(s)
		}},
		{name: "a store with 99 pets, deep members are refused, and an unpaired surrogate becomes U+FFFD", pets: filled(99), http: all(
			rejects(`^POST .*\r\nAuthorization: Bearer C.*"more":`, 422), takes(create, `\\ud800","cat`, "\ufffd\",\"cat"))},
		{name: "long lists end early, at a mebibyte", http: responses(list, 200, func(res *response) {
			if len(res.body) > 5000 {
				res.body = res.body[:strings.LastIndex(res.body[:4000], "},{")] + "}" + strings.Repeat(" ", 1<<20) + "]"
				res.header.Del("Link")
			}
		})},
		{name: "long lists of a status have more than 8 MiB", http: responses(list+`.*limit=100.*status=sold`, 200, func(res *response) {
			if len(res.body) > 20_000 {
				res.body = strings.Replace(res.body, "{", `{"photo":"`+strings.Repeat("x", 8<<20)+`",`, 1)
			}
		})},
		{name: "pages that end early and link to the last, which is the next, or have a cursor", pets: halved, http: all(
			nextPage(`[?&]status=`, "X-Next-Cursor", "AQ"), nextPage(list, "Link", `</v1/pets?page=2>; rel = "last next"`))},
		{name: "a filter after the limit, empty pages that link to the next, unknown members are refused, and 1 MiB gets 413", pets: filterLast, http: all(
			rejects(create+`.*\r\nAuthorization: Bearer C.*("id"|"owner"|"Name")`, 400), refuses(submit+`.*("text"|"status")`, 202, 422), refuses(create+`.*aaaaa`, 400, 413))},
		{name: "a network loses one connection in thirty", http: when(func(*http.Request) bool { return n.Add(1)%30 == 8 }, drops)},
		{name: "every connection is lost for a second, or one and a half, from the first category on, while there are messages, and at the end", options: only(5), pets: filled(3), http: all(
			away(`^POST /v1/pets`, 1500*time.Millisecond), away(`^GET /v1/pets/4`, time.Second), away(`^GET /v1/pets\?lim%69t`, time.Second))},
		{name: "pages end anywhere and link to the next, a credential outside ASCII and a form get 400, and a word after the key is ignored", pets: endsAnywhere, http: all(
			refuses(`\r\nAuthorization: Bearer (clé|\x{FFFD})`, 401, 400), requests(`\r\nAuthorization: Bearer [^ ]+ x\r`, withKey),
			refuses(`\r\nContent-Type: application/x-www-form-urlencoded`, 415, 400))},
		{name: "lists end at 50, old pets are not in the first, a body in chunks is lost, and Expect gets 417", pets: func(s *store) {
			filled(80)(s)
			first(50)(s)
		}, http: all(rejects(`\r\nTransfer-Encoding: chunked\r`, 500), rejects(`\r\nExpect: 100-continue\r`, 417))},
		// The default of JavaScript's Number, of int in Python, and of typed parameters in ASP.NET and Spring.
		{name: "ids and limits are read as programming languages read integers", http: all(
			reads(`/[+ ]*0*(\d+?)(\.0+|e0)? *$`, "/$1"), reads(`/0x([0-9])$`, "/$1"),
			query(`limit=(%20|%2B|0x)?0*(\d+)(\.0|e0|%20)?$`, "limit=$2"))},
		{name: "names are of ASCII letters and digits, and a name or a text may be there once", options: names(func(s string) bool {
			return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		}), pets: refusesNames(petstore.CodeInvalid), http: all(onlyOnce, rejects(submit+`.*猫`, 422))},
		{name: "the default status is available, and 1.0 and 1e2 are integers", pets: creates(func(n *petstore.NewPet) { n.Status = cmp.Or(n.Status, "available") }),
			http: all(takes(create, `("categoryId":\d+)\.0\b`, "$1"), takes(create, `("categoryId":1)[eE]\+?2\b`, "${1}00"))},
		{name: "the only category is a large one, which the options name, and others get 422", options: only(987_654_321),
			http: replaces(create, 400, `"status":400(.*not right)`, 422, `"status":422$1`), opts: withCategory(987_654_321)},
		{name: "the same message twice gets 409, and the same pet twice 400, though its response was lost or another run added it", pets: func(s *store) {
			refusesNames(petstore.CodeInvalid)(s)
			for _, name := range []string{"null", "constructor", "0042", "0", `"Rex"`, "👩\u200d👩\u200d👧🏽"} {
				mustCreate(s.DoCreatePet(context.Background(), petstore.NewPet{Name: name, CategoryID: 5}, petstore.IdempotencyKey{}))
			}
		}, http: all(onlyOnce, losesResponses)},
		{name: "limits out of range are clamped, and malformed ids get 400", http: all(
			query(`limit=(0|-\d+)\b`, "limit=1"), query(`limit=(10[1-9]|1[1-9]\d|[2-9]\d\d|\d{4,})\b`, "limit=100"),
			refuses(fetch+`([^ ]*[^-0-9 ][^ ]*|-?\d{20,}) `, 404, 400))},
		{name: "malformed queries are ignored, and GET /pets/{petId} still works after the scheduled day, and the Sunset is late on it, in an obsolete format", http: all(
			requests(list, func(r *http.Request) {
				q := r.URL.Query()
				if n, err := strconv.Atoi(q.Get("limit")); err != nil || n < 1 || n > 100 {
					q.Del("limit")
				}
				if !slices.Contains(petstore.Statuses(), petstore.Status(q.Get("status"))) {
					q.Del("status")
				}
				r.URL.RawQuery = q.Encode()
			}), header(fetch, 200, "Sunset", "Thursday, 05-Dec-30 23:59:59 GMT")), at: removal.AddDate(0, 0, 2)},
		{name: "connections beyond 3 are closed", conns: limited()},
		{name: "a third creation at a time gets 429", http: crowded},
		{name: "503 for 20 seconds, and says so", http: func(next http.Handler) http.Handler {
			return since(20*time.Second, func(http.Handler) http.Handler { return next })(all(header("", 503, "Retry-After", "21"), rejects("", 503))(next))
		}},
		{name: "GET /pets/{petId} was removed as scheduled, with 410", http: status(fetch, 200, 410), at: removal},
		{name: "GET /pets/{petId} was removed as scheduled, with an HTML 404, there were pets before, and it was not served at once",
			pets: filled(10), http: all(until(1, fetch, rejects(fetch, 503)), html(fetch, 404)), at: removal.AddDate(1, 0, 0)},
	}
}

// No unusual server fails a check.
func TestUnusual(t *testing.T) {
	t.Parallel()
	for _, v := range unusualServers() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, v)
			if r.Conclusion != conformance.Conformant {
				t.Errorf("%s\n%s", r.Headline(), text(r))
			}
			t.Logf("%d skipped, %d warnings", r.Counts[conformance.Skip], r.Counts[conformance.Warn])
		})
	}
}

// The difficult server of petstoretest breaks the contract only by dropping connections and
// cutting responses short.
func TestDifficult(t *testing.T) {
	t.Parallel()
	h := petstoretest.NewHandler(&petstoretest.Options{Difficult: true, Seed: 1}) // not New, which would report the suite's deliberate mistakes
	r := run(t, variant{
		http:   func(http.Handler) http.Handler { return h },
		target: func(target *conformance.Target) { target.Key = petstoretest.Key },
	})
	if r.Conclusion == conformance.NotJudged || h.Summary().Failures == 0 || slices.ContainsFunc(r.Results, func(result conformance.Result) bool {
		return result.ID != "http.response" && result.Verdict == conformance.Fail
	}) {
		t.Errorf("%s\n%s", text(r), h.Summary())
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
	if r.Conclusion != conformance.Conformant || others.Load() > 0 {
		t.Errorf("%s, %d requests not over HTTP/2\n%s", r.Headline(), others.Load(), text(r))
	}
}
