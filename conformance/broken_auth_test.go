package conformance_test

import (
	"net/http"
	"sync"
)

// brokenAuth are servers that accept or refuse a credential in the wrong way. TestAccepted
// has each credential that they must refuse.
func brokenAuth() []broken {
	const every = "auth.list auth.get auth.create messages.auth"
	return []broken{
		{"no operation needs a key", every, requests("", withKey), nil},
		{"a 401 becomes a 403", every, status("", 401, 403), nil},
		{"a key that is not ASCII gets 500", every, refuses(`\r\nAuthorization: Bearer clé`, 401, 500), nil},
		{"the request is validated before the credential", "auth.first auth.create.first messages.auth.first", credentialLast, nil},
		{"a key that is not UTF-8 gets 400, what follows a key is ignored, and the scheme must be Bearer", "auth.ascii auth.word auth.scheme-case", all(
			refuses(`\r\nAuthorization: Bearer \x{FFFD}`, 401, 400), requests(`\r\nAuthorization: Bearer [^ ]+ x\r`, withKey), strictScheme), nil},
		{"a 401 has a challenge for Basic", "auth.challenge", header("", 401, "WWW-Authenticate", "Basic realm=x"), nil},
		{"pets and lists are shown without a key, and messages accepted, after they were with one", "auth.get auth.list messages.auth",
			all(remembers(fetch, 200), remembers(list, 200), remembers(submit, 202)), nil},
		{"a pet is refused after it was refused without a key", "pets.get.status", remembers(fetch, 401), nil},
	}
}

// credentialLast responds 401 to a request without a credential only if the request is
// valid.
var credentialLast = all(responses("", 0, func(res *response) {
	if res.status < 300 && res.request.Header.Get("X-Without") != "" {
		res.status, res.body = 401, failure(401)
	}
}), requests("", func(r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("X-Without", "a credential")
		withKey(r)
	}
}))

// strictScheme accepts the scheme only as Bearer.
var strictScheme = requests(`\r\nAuthorization: bearer `, func(r *http.Request) { r.Header.Del("Authorization") })

// remembers responds to each URL and body of an operation with the first response that has
// the status. It ignores the key.
func remembers(op string, of int) wrapper {
	return func(next http.Handler) http.Handler {
		var first sync.Map
		key := func(res *response) string { return res.request.URL.String() + res.sent }
		return responses(op, 0, func(res *response) {
			if kept, ok := first.Load(key(res)); ok {
				*res = *kept.(*response)
			} else if res.status == of {
				first.Store(key(res), &response{status: res.status, header: res.header.Clone(), body: res.body})
			}
		})(next)
	}
}
