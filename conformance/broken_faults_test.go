package conformance_test

// lenientServers accept requests that they must refuse, or refuse them with another
// status. TestAccepted has each of these requests.
func lenientServers() []variant {
	return []variant{
		{name: "requests that are wrong are accepted", check: "pets.create.400.values", http: accepts},
		{name: "a pet needs no category", check: "pets.create.400.required", http: takes(create, `^(\{"name":"[^"]*")(\}|,"status":)`, `$1,"categoryId":0$2`)},
		{name: "a body ends where its object does", check: "pets.create.400.body", http: takes(create, `^(\{[^{}]*\}).+$`, `$1`)},
		{name: "a body that is not JSON gets 422", check: "pets.create.400.body", http: refuses(create+`.*[^}]$`, 400, 422)},
		{name: "a body that is not JSON gets 500", check: "errors.no-5xx", http: status(create, 400, 500)},
		{name: "a large body gets 500", check: "errors.no-5xx", http: responses(create+`.*aaaaa`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
	}
}
