package conformance_test

import (
	"net/http"
)

// brokenRFCs are servers that violate an RFC.
func brokenRFCs() []variant {
	return []variant{
		{name: "a 201 has no Location", check: "http.location", http: header(create, 201, "Location", "")},
		{name: "the Location gets 404", check: "http.location", http: header(create, 201, "Location", "/v1/pets/0")},
		{name: "a 401 has no challenge", check: "auth.challenge", http: header(list, 401, "WWW-Authenticate", "")},
		{name: "a 401 has a challenge for Basic", check: "auth.challenge", http: header(list, 401, "WWW-Authenticate", "Basic realm=x")},
		{name: "the scheme must be Bearer", check: "auth.scheme-case", http: strictScheme(list)},
		{name: "there is no Deprecation", check: "deprecation.deprecation.present", http: header(fetch, 200, "Deprecation", "")},
		{name: "the Deprecation is the word true", check: "deprecation.deprecation.present", http: header(fetch, 200, "Deprecation", "true")},
		{name: "the Deprecation is after the removal", check: "deprecation.deprecation.present", http: header(fetch, 200, "Deprecation", "@1956528000")},
		{name: "a body in chunks is not read", check: "http.chunked", http: rejects(`\r\nTransfer-Encoding: chunked\r`, 400)},
		{name: "an Expect field gets 417", check: "http.expect", http: rejects(`\r\nExpect: 100-continue\r`, 417)},
		{name: "the Sunset is not an HTTP date", check: "deprecation.sunset.present", http: header(fetch, 200, "Sunset", "2030-12-05")},
	}
}

// strictScheme accepts the scheme only as Bearer.
func strictScheme(op string) wrapper {
	return requests(op+`.*\r\nAuthorization: bearer `, func(r *http.Request) { r.Header.Del("Authorization") })
}
