package conformance_test

import "net/http"

// openServers accept or refuse a credential in the wrong way, for each operation.
// TestAccepted has each credential that they must refuse.
func openServers() []variant {
	var all []variant
	for op, clause := range map[string]string{list: "key-list", create: "key-create", fetch: "key-get", submit: "key-messages"} {
		first := "key-first"
		if op == create || op == submit {
			first = "key-before-body"
		}
		all = append(all,
			variant{name: operations[op] + " needs no key", clause: clause, http: requests(op, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testKey) })},
			variant{name: operations[op] + " responds 403 instead of 401", clause: clause, http: status(op, 401, 403)},
			variant{name: operations[op] + " with a key that is not ASCII gets 500", clause: clause, http: refuses(op+`.*\r\nAuthorization: Bearer clé`, 401, 500)},
			variant{name: operations[op] + " validates the request before the credential", clause: first, http: credentialLast(op)})
	}
	return all
}

// credentialLast responds 401 to a request without a credential only if the
// request is valid.
func credentialLast(op string) wrapper {
	return all(responses(op, 0, func(res *response) {
		if res.status < 300 && res.request.Header.Get("X-Without") != "" {
			res.status, res.body = 401, failure(401)
		}
	}), requests(op, func(r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("X-Without", "a credential")
			r.Header.Set("Authorization", "Bearer "+testKey)
		}
	}))
}
