package conformance_test

import "fmt"

// brokenErrors are servers that break the body of an error, for each operation.
func brokenErrors() []variant {
	var all []variant
	for _, at := range []struct {
		op     string
		status int
	}{{create, 400}, {list, 401}, {fetch, 404}, {submit, 400}} {
		where := fmt.Sprintf("the %d of %s ", at.status, operations[at.op])
		one := func(what, clause string, w wrapper) {
			all = append(all, variant{name: where + what, clause: clause, http: w})
		}
		one("is text/plain", "error-type", header(at.op, at.status, "Content-Type", "text/plain"))
		one("is application/problem+json", "error-type", header(at.op, at.status, "Content-Type", "application/problem+json"))
		one("has no code", "error-code", lacks(at.op, at.status, "code"))
		one("has a number as the code", "error-code", set(at.op, at.status, "code", "17"))
		one("has no body", "error-code", edit(at.op, at.status, `.*`, ""))
		one("is text/html", "error-message", edit(at.op, at.status, `.*`, "<html>no</html>"))
		one("has no message", "error-message", lacks(at.op, at.status, "message"))
		one("has null as the message", "error-message", set(at.op, at.status, "message", "null"))
		one("has no status", "error-status", lacks(at.op, at.status, "status"))
		one("has the status in a string", "error-status", set(at.op, at.status, "status", fmt.Sprintf("%q", fmt.Sprint(at.status))))
		one("has another status inside", "error-status", set(at.op, at.status, "status", "500"))
		one("is wrapped", "error-code", edit(at.op, at.status, `.*`, `{"error":$0}`))
	}
	html := func(op string, status int) wrapper {
		return responses(op, 0, func(res *response) {
			res.status, res.body = status, "<h1>no</h1>"
			res.header.Set("Content-Type", "text/html")
		})
	}
	quotes := func(op string) wrapper {
		return edit(op, 400, `"message":"[^"]*"`, `"message":"unknown: "a"b""`)
	}
	return append(all,
		variant{name: "a body of 200 KiB gets 413 in HTML", clause: "error-any", http: html(create+`.*big big`, 413)},
		variant{name: "a message of 200 KiB gets 413 in HTML", clause: "error-any", http: html(submit+`.*big big`, 413)},
		variant{name: "a body of 1 MiB gets 413 in HTML", clause: "error-any", http: html(create+`.*large large`, 413)},
		variant{name: "a 503 is HTML", clause: "error-any", http: nth(3, list, html("", 503))},
		variant{name: "an unknown path gets HTML", clause: "error-any", http: html(`^GET /v1/nothing`, 404)},
		variant{name: "an id with a suffix gets HTML", clause: "error-any", http: html(`^GET /v1/pets/\d+\.5 `, 404)},
		variant{name: "a slash after an id gets HTML", clause: "error-any", http: html(`^GET /v1/pets/\d+/ `, 404)},
		variant{name: "the message about a filter repeats its quotes", clause: "error-body", http: quotes(`status=a%22b`)},
		variant{name: "the message about a filter repeats its backslash", clause: "error-body", http: edit(`status=a%5Cc`, 400, `"message":"[^"]*"`, `"message":"unknown: a\c"`)},
		variant{name: "the message about a status repeats its quotes", clause: "error-body", http: quotes(create + `.*"status":"a\\"b`)},
		variant{name: "the message about a name repeats its quotes", clause: "error-body", http: quotes(create + `.*\{"name":"a\\"b[^,]*$`)},
		variant{name: "the message about a member of a message repeats its quotes", clause: "error-body", http: quotes(submit + `.*\{"a\\"b`)})
}
