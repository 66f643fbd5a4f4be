package conformance_test

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// withContentType sets a Content-Type that is missing.
func withContentType(next http.Handler) http.Handler {
	return requests(submit, func(r *http.Request) {
		if r.Header.Get("Content-Type") == "" {
			r.Header.Set("Content-Type", "application/json")
		}
	})(next)
}

// brokenFetches break GET /v1/pets/{petId}.
func brokenFetches() []variant {
	petID := func(change func(string) string) wrapper {
		return requests(fetch, func(r *http.Request) {
			r.URL.Path = "/v1/pets/" + change(strings.TrimPrefix(r.URL.Path, "/v1/pets/"))
			r.URL.RawPath = ""
		})
	}
	bits := func(n uint) wrapper {
		return petID(func(s string) string {
			id, ok := new(big.Int).SetString(s, 10)
			if !ok || id.Sign() < 0 {
				return s
			}
			return id.And(id, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))).String()
		})
	}
	odd := func(s string, change func(*response)) wrapper {
		return responses(fetch, func(res *response) {
			if strings.HasSuffix(res.request.URL.Path, s) {
				change(res)
			}
		})
	}
	return []variant{
		{name: "GET /pets/{petId} responds 203", clause: "get", http: status(fetch, 200, 203)},
		{name: "a pet gets 500", clause: "get", http: status(fetch, 200, 500)},
		{name: "GET /pets/{petId} is removed too early", clause: "get", http: status(fetch, 200, 410)},
		{name: "a pet is lost when fifty others are added", clause: "get", http: forgetful(50)},
		{name: "a pet is text/json", clause: "media-type", http: header(fetch, 200, "Content-Type", "text/json")},
		{name: "a pet lacks its id", clause: "pet", http: set(fetch, 200, "id", "")},
		{name: "a pet lacks its category", clause: "pet", http: set(fetch, 200, "categoryId", "")},
		{name: "a pet has an unknown status", clause: "pet", http: set(fetch, 200, "status", `"Available"`)},
		{name: "a pet is in an array", clause: "pet", http: responses(fetch, func(res *response) {
			if res.status == 200 {
				res.body = []byte("[" + string(res.body) + "]")
			}
		})},
		{name: "a pet is shown with the id 1", clause: "id", http: set(fetch, 200, "id", "1")},
		{name: "ids go through floating point", clause: "id", http: both(objects(fetch, 200, func(o object) {
			if n := string(o["id"]); len(n) > 15 {
				o["id"] = jsontext.Value(n[:15] + strings.Repeat("0", len(n)-15))
			}
		}), shiftIDs)},
		{name: "a pet is shown as sold", clause: "create-adds", http: set(fetch, 200, "status", `"sold"`)},
		{name: "a missing pet is null", clause: "get-missing", http: responses(fetch, func(res *response) {
			if res.status == 404 {
				res.status, res.body = 200, []byte("null")
			}
		})},
		{name: "a missing pet gets 400", clause: "get-missing", http: status(fetch, 404, 400)},
		{name: "a missing pet gets 204", clause: "get-missing", http: status(fetch, 404, 204)},
		{name: "a missing pet gets 410", clause: "get-missing", http: status(fetch, 404, 410)},
		{name: "any id returns a pet", clause: "get-missing", http: petID(func(string) string { return "1" })},
		{name: "an id is cut to 32 bits", clause: "get-missing", http: bits(32)},
		{name: "an id is cut to 64 bits", clause: "get-missing", http: bits(64)},
		{name: "an id of 0 gets 400", clause: "get-missing", http: odd("/0", func(res *response) { res.status = 400 })},
		{name: "an id that is not assigned yet gets 500", clause: "get-missing", http: responses(fetch, func(res *response) {
			if n := strings.TrimPrefix(res.request.URL.Path, "/v1/pets/"); len(n) == 7 && res.status == 404 {
				res.status = 500
			}
		})},
		{name: "a negative id gets 500", clause: "get-missing", http: odd("/-1", func(res *response) { res.status = 500 })},
		{name: "the largest id gets 500", clause: "get-missing", http: odd("/9223372036854775807", func(res *response) { res.status = 500 })},
		{name: "an id beyond int64 gets 500", clause: "get-missing", http: odd("/9223372036854775808", func(res *response) { res.status = 500 })},
		{name: "the sunset is in 2029", clause: "sunset", http: header(fetch, 200, "Sunset", "Wed, 05 Dec 2029 00:00:00 GMT")},
		{name: "the sunset is a month later", clause: "sunset", http: header(fetch, 200, "Sunset", "Sun, 05 Jan 2031 00:00:00 GMT")},
		{name: "the sunset is on 12 May", clause: "sunset", http: header(fetch, 200, "Sunset", "Sun, 12 May 2030 00:00:00 GMT")},
		{name: "a malformed query gets 500", clause: "server-errors", http: responses(list, func(res *response) {
			if res.status == 400 {
				res.status = 500
			}
		})},
		{name: "a word as an id gets 500", clause: "server-errors", http: odd("/abc", func(res *response) { res.status = 500 })},
		{name: "a deeply nested body makes the handler panic", clause: "server-errors", http: bodies(create, func(s string) string {
			if strings.HasPrefix(s, "[[[") {
				panic(http.ErrAbortHandler)
			}
			return s
		})},
		{name: "a number too large gets 500 with a message", clause: "server-errors", http: responses(submit, func(res *response) {
			if strings.Contains(string(res.sent), "1e400") {
				res.status = 500
			}
		})},
	}
}

// forgetful shows only the last n pets.
func forgetful(n int64) wrapper {
	return func(next http.Handler) http.Handler {
		var last atomic.Int64
		note := objects(create, 201, func(o object) {
			id, _ := strconv.ParseInt(string(o["id"]), 10, 64)
			last.Store(max(last.Load(), id))
		})
		hide := responses(fetch, func(res *response) {
			id, _ := strconv.ParseInt(strings.TrimPrefix(res.request.URL.Path, "/v1/pets/"), 10, 64)
			if id <= last.Load()-n {
				res.status, res.body = 404, []byte(`{"code":"not_found","message":"forgotten","status":404}`)
			}
		})
		return note(hide(next))
	}
}

// shiftIDs gives pets ids beyond 2^53.
func shiftIDs(next http.Handler) http.Handler {
	const base = 1 << 60
	out := func(o object) {
		if n, ok := new(big.Int).SetString(string(o["id"]), 10); ok {
			o["id"] = jsontext.Value(n.Add(n, big.NewInt(base)).String())
		}
	}
	in := requests(fetch, func(r *http.Request) {
		if n, ok := new(big.Int).SetString(strings.TrimPrefix(r.URL.Path, "/v1/pets/"), 10); ok && n.IsInt64() {
			r.URL.Path = "/v1/pets/" + n.Sub(n, big.NewInt(base)).String()
		}
	})
	return in(objects(list, 200, out)(objects(create, 201, out)(objects(fetch, 200, out)(next))))
}

// openServers accept a bad credential: one for each operation and each kind of
// credential.
func openServers() []variant {
	recognise := map[string]func(field []string) bool{
		"no credential": func(f []string) bool { return len(f) == 0 },
		"an empty one":  func(f []string) bool { return len(f) == 1 && strings.TrimSpace(f[0]) == "" },
		"a scheme":      func(f []string) bool { return len(f) == 1 && strings.TrimSpace(f[0]) == "Bearer" },
		"any scheme":    func(f []string) bool { return len(f) == 1 && strings.HasSuffix(f[0], " "+testKey) },
		"a raw key":     func(f []string) bool { return len(f) == 1 && f[0] == testKey },
		"a beginning":   token(func(k string) bool { return len(k) > 4 && strings.HasPrefix(testKey, k) }),
		"a longer key":  token(func(k string) bool { return strings.HasPrefix(k, testKey) }),
		"any case":      token(func(k string) bool { return strings.EqualFold(k, testKey) }),
		"any such key":  token(func(k string) bool { return len(k) == len(testKey) }),
	}
	clauses := map[string]string{list: "key-list", create: "key-create", fetch: "key-get", submit: "key-messages"}
	var all []variant
	for op, clause := range clauses {
		for kind, is := range recognise {
			all = append(all, variant{name: operations[op] + " accepts " + kind, clause: clause,
				http: requests(op, func(r *http.Request) {
					if is(r.Header["Authorization"]) {
						r.Header.Set("Authorization", "Bearer "+testKey)
					}
				})})
		}
		all = append(all,
			variant{name: operations[op] + " responds 403 instead of 401", clause: clause, http: status(op, 401, 403)},
			variant{name: operations[op] + " validates the request before the credential", clause: "key-first", http: credentialLast(op)})
	}
	return all
}

func token(is func(string) bool) func([]string) bool {
	return func(f []string) bool {
		if len(f) != 1 {
			return false
		}
		k, ok := strings.CutPrefix(f[0], "Bearer ")
		return ok && is(k)
	}
}

// credentialLast responds 401 to a request without a credential only if the
// request is valid.
func credentialLast(op string) wrapper {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if operation(r) != op || r.Header.Get("Authorization") != "" {
				next.ServeHTTP(w, r)
				return
			}
			responses(op, func(res *response) {
				if res.status < 300 {
					res.status, res.body = 401, []byte(`{"code":"unauthorized","message":"no key","status":401}`)
				}
			})(requests(op, func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+testKey)
			})(next)).ServeHTTP(w, r)
		})
	}
}

// brokenErrors break the body of an error, for each operation and status.
func brokenErrors() []variant {
	var all []variant
	for _, at := range []struct {
		op     string
		status int
	}{{create, 400}, {list, 401}, {create, 401}, {fetch, 401}, {fetch, 404}, {submit, 400}, {submit, 401}} {
		where := fmt.Sprintf("the %d of %s ", at.status, operations[at.op])
		one := func(what, clause string, w wrapper) {
			all = append(all, variant{name: where + what, clause: clause, http: w})
		}
		one("is text/plain", "error-type", header(at.op, at.status, "Content-Type", "text/plain"))
		one("is application/problem+json", "error-type", header(at.op, at.status, "Content-Type", "application/problem+json"))
		one("has no code", "error-code", set(at.op, at.status, "code", ""))
		one("has a number as the code", "error-code", set(at.op, at.status, "code", "17"))
		one("has no body", "error-code", body(at.op, at.status, ""))
		one("is text/html", "error-message", body(at.op, at.status, "<html>no</html>"))
		one("has no message", "error-message", set(at.op, at.status, "message", ""))
		one("has null as the message", "error-message", set(at.op, at.status, "message", "null"))
		one("has no status", "error-status", set(at.op, at.status, "status", ""))
		one("has the status in a string", "error-status", set(at.op, at.status, "status", fmt.Sprintf("%q", fmt.Sprint(at.status))))
		one("has another status inside", "error-status", set(at.op, at.status, "status", "500"))
		one("is wrapped", "error-code", responses(at.op, func(res *response) {
			if res.status == at.status {
				res.body = []byte(`{"error":` + string(res.body) + `}`)
			}
		}))
	}
	return all
}

// brokenMessages break POST /v1/messages.
func brokenMessages() []variant {
	timed := func(text string) wrapper { return set(submit, 202, "createdAt", text) }
	echo := func(change func(string) string) wrapper {
		return objects(submit, 202, func(o object) { o["message"] = quoted(change(unquoted(o["message"]))) })
	}
	return []variant{
		{name: "a message gets 302", clause: "submit", http: status(submit, 202, 302)},
		{name: "a message gets 500", clause: "submit", http: status(submit, 202, 500)},
		{name: "a record lacks its id", clause: "message-id", http: set(submit, 202, "id", "")},
		{name: "a record has a number as id", clause: "message-id", http: set(submit, 202, "id", "7")},
		{name: "every record has the same id", clause: "message-id", http: set(submit, 202, "id", `"m-1"`)},
		{name: "the id of a record is the text", clause: "message-id", http: objects(submit, 202, func(o object) {
			o["id"] = quoted(base64.StdEncoding.EncodeToString(o["message"]))
		})},
		{name: "a record has no text", clause: "message-text", http: set(submit, 202, "message", "")},
		{name: "a record has a fixed text", clause: "message-text", http: set(submit, 202, "message", `"Thank you"`)},
		{name: "texts lose the spaces at their ends", clause: "message-text", http: echo(strings.TrimSpace)},
		{name: "texts are escaped for HTML", clause: "message-text", http: echo(func(s string) string { return strings.ReplaceAll(s, "&", "&amp;") })},
		{name: "texts lose backslashes", clause: "message-text", http: echo(func(s string) string { return strings.ReplaceAll(s, `\`, "") })},
		{name: "texts are normalized", clause: "message-text", http: echo(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "é") })},
		{name: "texts lose what is beyond the basic plane", clause: "message-text", http: echo(func(s string) string { return strings.ReplaceAll(s, "🦊", "") })},
		{name: "texts end at a NUL", clause: "message-text", http: echo(func(s string) string { before, _, _ := strings.Cut(s, "\x00"); return before })},
		{name: "texts are cut at 1,000 bytes", clause: "message-text", http: echo(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 1000)], "") })},
		{name: "the letter ø is lost from texts", clause: "message-text", http: echo(func(s string) string { return strings.ReplaceAll(s, "ø", "") })},
		{name: "a record is QUEUED", clause: "message-status", http: set(submit, 202, "status", `"QUEUED"`)},
		{name: "a record is accepted", clause: "message-status", http: set(submit, 202, "status", `"accepted"`)},
		{name: "a record has no status", clause: "message-status", http: set(submit, 202, "status", "")},
		{name: "a record has no time", clause: "message-time", http: set(submit, 202, "createdAt", "")},
		{name: "the time is a number", clause: "message-time", http: timed("1795132800")},
		{name: "the time is local", clause: "message-time", http: objects(submit, 202, func(o object) {
			o["createdAt"] = quoted(strings.TrimSuffix(unquoted(o["createdAt"]), "Z"))
		})},
		{name: "the time is two hours east", clause: "message-time", http: objects(submit, 202, func(o object) {
			o["createdAt"] = quoted(strings.Replace(unquoted(o["createdAt"]), "Z", "+02:00", 1))
		})},
		{name: "the time is an HTTP date", clause: "message-time", http: timed(`"Sat, 21 Nov 2026 05:46:16 GMT"`)},
		{name: "the time has a space instead of the T", clause: "message-time", http: objects(submit, 202, func(o object) {
			o["createdAt"] = quoted(strings.Replace(unquoted(o["createdAt"]), "T", " ", 1))
		})},
		{name: "the time is the epoch", clause: "message-time", http: timed(`"1970-01-01T00:00:00Z"`)},
		{name: "the time is three hours ago", clause: "message-time", http: threeHoursAgo},
	}
}

// laxServers violate an RFC.
func laxServers() []variant {
	return []variant{
		{name: "the name may be in a body twice", clause: "rfc-duplicates", http: reads(create, `,"name":"another"\}`, `}`)},
		{name: "the message may be in a body twice", clause: "rfc-duplicates", http: reads(submit, `,"message":"another"\}`, `}`)},
		{name: "bytes that are not UTF-8 are replaced in a pet", clause: "rfc-utf8", http: bodies(create, func(s string) string { return strings.ToValidUTF8(s, "\ufffd") })},
		{name: "bytes that are not UTF-8 are replaced in a message", clause: "rfc-utf8", http: bodies(submit, func(s string) string { return strings.ToValidUTF8(s, "\ufffd") })},
		{name: "HEAD gets 405", clause: "rfc-head", http: status("HEAD /v1/pets", 200, 405)},
		{name: "a 201 has no Location", clause: "rfc-location", http: header(create, 201, "Location", "")},
		{name: "the Location gets 404", clause: "rfc-location", http: header(create, 201, "Location", "/v1/pets/0")},
		{name: "a 405 has no Allow", clause: "rfc-allow", http: header("PUT /v1/pets/{id}", 405, "Allow", "")},
		{name: "an unsupported method gets 404", clause: "rfc-allow", http: status("PUT /v1/pets/{id}", 405, 404)},
		{name: "a 401 has no challenge", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "")},
		{name: "a 401 has a challenge for Basic", clause: "rfc-challenge", http: header(list, 401, "WWW-Authenticate", "Basic realm=x")},
		{name: "a 401 to a message has no challenge", clause: "rfc-challenge", http: header(submit, 401, "WWW-Authenticate", "")},
		{name: "the scheme must be Bearer", clause: "rfc-scheme", http: strictScheme(list)},
		{name: "the scheme must be Bearer with a message", clause: "rfc-scheme", http: strictScheme(submit)},
		{name: "a chunked body gets 411", clause: "rfc-chunked", http: responses(create, func(res *response) {
			if res.request.ContentLength < 0 {
				res.status = 411
			}
		})},
		{name: "there is no Deprecation", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "")},
		{name: "the Deprecation is the word true", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "true")},
		{name: "the Deprecation is after the removal", clause: "rfc-deprecation", http: header(fetch, 200, "Deprecation", "@1956528000")},
		{name: "there is no Sunset", clause: "rfc-sunset", http: header(fetch, 200, "Sunset", "")},
		{name: "the Sunset is not an HTTP date", clause: "rfc-sunset", http: header(fetch, 200, "Sunset", "2030-12-05")},
	}
}

func threeHoursAgo(next http.Handler) http.Handler {
	return objects(submit, 202, func(o object) {
		o["createdAt"] = quoted(time.Now().UTC().Add(-3 * time.Hour).Format(time.RFC3339))
	})(next)
}

func strictScheme(op string) wrapper {
	return requests(op, func(r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "bearer ") {
			r.Header.Del("Authorization")
		}
	})
}
