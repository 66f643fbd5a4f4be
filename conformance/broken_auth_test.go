package conformance_test

import (
	"fmt"
	"net/http"
)

// openServers accept a bad credential: one for each operation and each kind of
// credential.
func openServers() []variant {
	kinds := map[string]string{ // patterns of the Authorization fields, as %q prints them
		"no credential": `^\[\]$`,
		"an empty one":  `""`,
		"a scheme":      `"Bearer ?"`,
		"any scheme":    ` ` + testKey + `"`,
		"a raw key":     `"` + testKey + `"`,
		"a beginning":   `"Bearer ` + testKey[:5] + `.{0,30}"`,
		"a longer key":  `"Bearer ` + testKey,
		"any case":      `"Bearer (?i)` + testKey + `"`,
		"any such key":  `"Bearer .{36}"`,

		"a longer key that ends with it":     `Bearer .+` + testKey,
		"a key with another first character": `"Bearer .` + testKey[1:] + `"`,
		"a key with another character":       `"Bearer ` + testKey[:18] + `.` + testKey[19:] + `"`,
		"a key with another last character":  `"Bearer ` + testKey[:35] + `[^C]"`,
		"undefined":                          `Bearer undefined`,
		"null":                               `Bearer null`,
		"the word Bearer":                    `Bearer Bearer"`,
		"constructor":                        `Bearer constructor`,
		"a key that is not ASCII":            `Bearer cl`,
	}
	clauses := map[string]string{list: "key-list", create: "key-create", fetch: "key-get", submit: "key-messages"}
	var all []variant
	for op, clause := range clauses {
		for kind, pattern := range kinds {
			bad := compile(pattern)
			all = append(all, variant{name: operations[op] + " accepts " + kind, clause: clause,
				http: requests(op, func(r *http.Request) {
					if bad.MatchString(fmt.Sprintf("%q", r.Header["Authorization"])) {
						r.Header.Set("Authorization", "Bearer "+testKey)
					}
				})})
		}
		first := "key-first"
		if op == create || op == submit {
			first = "key-before-body"
		}
		all = append(all,
			variant{name: operations[op] + " responds 403 instead of 401", clause: clause, http: status(op, 401, 403)},
			variant{name: operations[op] + " with a key that is not ASCII gets 500", clause: clause,
				http: refuses(op+`.*\r\nAuthorization: Bearer clé`, 401, 500)},
			variant{name: operations[op] + " validates the request before the credential", clause: first, http: credentialLast(op)})
	}
	return all
}

// credentialLast responds 401 to a request without a credential only if the
// request is valid.
func credentialLast(op string) wrapper {
	return both(responses(op, 0, func(res *response) {
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
