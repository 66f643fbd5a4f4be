package conformance_test

import (
	"net/http"
	"strings"
)

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
	return both(responses(op, func(res *response) {
		if res.request.Header.Get("X-Without") != "" && res.status < 300 {
			res.status, res.body = 401, []byte(`{"code":"unauthorized","message":"no key","status":401}`)
		}
	}), requests(op, func(r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("X-Without", "a credential")
			r.Header.Set("Authorization", "Bearer "+testKey)
		}
	}))
}
