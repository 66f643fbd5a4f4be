package conformance_test

// brokenErrors are servers that break the body of an error.
func brokenErrors() []variant {
	quotes := func(op string) wrapper {
		return edit(op, 400, `"message":"[^"]*"`, `"message":"unknown: "a"b""`)
	}
	return []variant{
		{name: "a 400 for a pet is text/plain", check: "errors.media-type", http: header(create, 400, "Content-Type", "text/plain")},
		{name: "a 401 is application/problem+json", check: "errors.media-type", http: header(list, 401, "Content-Type", "application/problem+json")},
		{name: "a 404 has no code", check: "errors.code", http: lacks(fetch, 404, "code")},
		{name: "a 400 for a message has a number as the code", check: "errors.code", http: set(submit, 400, "code", "17")},
		{name: "a 404 has no body", check: "errors.object", http: edit(fetch, 404, `.*`, "")},
		{name: "a 401 is HTML", check: "errors.object", http: edit(list, 401, `.*`, "<html>no</html>")},
		{name: "a 400 for a pet has no message", check: "errors.message", http: lacks(create, 400, "message")},
		{name: "a 404 has no status", check: "errors.status", http: lacks(fetch, 404, "status")},
		{name: "a 401 has its status in a string", check: "errors.status", http: set(list, 401, "status", `"401"`)},
		{name: "a 400 for a message has another status inside", check: "errors.status", http: set(submit, 400, "status", "500")},

		{name: "a body of 200 KiB gets 413 in HTML", check: "errors.any", http: html(create+`.*aaaaa`, 413)},
		{name: "a 503 is HTML", check: "errors.any", http: nth(3, list, html("", 503))},
		{name: "an unknown path gets HTML", check: "errors.any", http: html(`^GET /v1/nothing`, 404)},
		{name: "an id with a suffix gets HTML", check: "errors.any", http: html(`^GET /v1/pets/\d+\.5 `, 404)},
		{name: "the message about a filter repeats its quotes", check: "errors.any", http: quotes(`status=a%22b`)},
		{name: "the message about a status repeats its quotes", check: "errors.object", http: quotes(create + `.*"status":"a\\"b`)},
	}
}
