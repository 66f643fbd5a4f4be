package conformance_test

import "net/http"

// openServers accept or refuse a credential in the wrong way, for each operation.
// TestAccepted has each credential that they must refuse.
func openServers() []variant {
	var all []variant
	for _, o := range []struct{ op, check, first string }{
		{list, "auth.list", "auth.first"}, {create, "auth.create", "auth.create.first"},
		{fetch, "auth.get", "auth.first"}, {submit, "messages.auth", "messages.auth.first"},
	} {
		op := o.op
		all = append(all,
			variant{name: operations[op] + " needs no key", check: o.check, http: requests(op, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testKey) })},
			variant{name: operations[op] + " responds 403 instead of 401", check: o.check, http: status(op, 401, 403)},
			variant{name: operations[op] + " with a key that is not ASCII gets 500", check: o.check, http: refuses(op+`.*\r\nAuthorization: Bearer clé`, 401, 500)},
			variant{name: operations[op] + " validates the request before the credential", check: o.first, http: credentialLast(op)})
	}
	return append(all,
		variant{name: "a key that is not UTF-8 gets 400", check: "auth.ascii", http: refuses(`\r\nAuthorization: Bearer \x{FFFD}`, 401, 400)},
		variant{name: "what follows the key is ignored", check: "auth.word", http: requests(`\r\nAuthorization: Bearer [^ ]+ x\r`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testKey) })})
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
