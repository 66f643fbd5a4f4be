package conformance_test

// lenientServers accept requests that they must refuse, or refuse them with another
// status. TestAccepted has each of these requests.
func lenientServers() []variant {
	return []variant{
		{name: "requests that are wrong are accepted", clause: "create-values", http: accepts},
		{name: "a pet needs no category", clause: "create-required", http: takes(create, `^(\{"name":"[^"]*")(\}|,"status":)`, `$1,"categoryId":0$2`)},
		{name: "a category may be a string", clause: "create-values", http: takes(create, `"categoryId":"(\d+)"`, `"categoryId":$1`)},
		{name: "a status may be null", clause: "status-null", http: takes(create, `,"status":null`, ``)},
		{name: "a status may be empty", clause: "status-values", http: takes(create, `,"status":""`, ``)},
		{name: "a body ends where its object does", clause: "create-body", http: takes(create, `^(\{[^{}]*\}).+$`, `$1`)},
		{name: "a body that is not JSON gets 422", clause: "create-body", http: refuses(create+`.*[^}]$`, 400, 422)},
		{name: "a body that is not JSON gets 500", clause: "create-body", http: status(create, 400, 500)},
		{name: "a large body gets 500", clause: "create-required", http: responses(create+`.*large large`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
		{name: "wrong values get 422", clause: "create-values", http: refuses(create+`.*\}$`, 400, 422)},
		{name: "missing members get 422", clause: "create-required", http: refuses(create+`.*\}$`, 400, 422)},
	}
}
