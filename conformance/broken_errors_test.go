package conformance_test

import "fmt"

// brokenErrors are servers that break the body of an error, for each operation and
// status.
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
	return all
}
