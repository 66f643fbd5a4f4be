package conformance_test

import (
	"net/http"
	"slices"
)

// operations has the operations as the names of broken servers show them.
var operations = map[string]string{list: "GET /pets", create: "POST /pets", fetch: "GET /pets/{petId}", submit: "POST /messages"}

// lenience is something that a server accepts: it takes the matches of a pattern in
// a body for something else.
type lenience struct{ what, pattern, with string }

func lenient(op, clause string, list ...lenience) []variant {
	var all []variant
	for _, l := range list {
		all = append(all, variant{name: operations[op] + " accepts " + l.what, clause: clause, http: takes(op, l.pattern, l.with)})
	}
	return all
}

// lenientServers accept one kind of request that they must refuse.
func lenientServers() []variant {
	const pet, text = `{"name":"none","categoryId":1}`, `{"message":"none"}`
	bodies := func(whole string) []lenience {
		return []lenience{
			{"no body", `^$`, whole},
			{"a body of white space", `^\s+$`, whole},
			{"a form", `^(name|message)=.*`, whole},
			{"a body cut short", `([^}\s])$`, `$1}`},
			{"a body for its first value", `^(\{[^{}]*\}).+$`, `$1`},
			{"a trailing comma", `,\}$`, `}`},
			{"single quotes", `'`, `"`},
			{"unknown escapes", `\\x`, `x`},
			{"null as an object", `^null$`, whole},
			{"a string as an object", `^"[^"]*"$`, whole},
			{"the first of an array", `^\[(\{.*\})\]$`, `$1`},
		}
	}
	return slices.Concat(
		lenient(create, "create-body", bodies(pet)...),
		lenient(create, "create-body",
			lenience{"names without quotes", `([{,])(\w+):`, `$1"$2":`},
			lenience{"comments", `/\*.*\*/`, ``},
			lenience{"a line break in a string", "\n\"", `"`},
			lenience{"NaN as 0", `NaN`, `0`},
			lenience{"zeros before a number", `:00`, `:`},
			lenience{"hexadecimal numbers", `:0x`, `:`},
			lenience{"JSON in a string", `^"\{.*\}"$`, pet},
			lenience{"true as an object", `^true$`, pet},
			lenience{"a number as an object", `^\d+$`, pet},
			lenience{"an empty array as an object", `^\[\]$`, pet}),
		lenient(create, "create-required",
			lenience{"a pet without a name", `^\{"categoryId":`, `{"name":"","categoryId":`},
			lenience{"a pet without a category", `^(\{"name":"[^"]*")(\}|,"status":)`, `$1,"categoryId":0$2`},
			lenience{"an empty object", `^\{\}$`, `{"name":"none","categoryId":0}`},
			lenience{"the start of a large body", `^\{"name":"large .*`, pet},
			lenience{"the start of a big body", `^\{"name":"big .*`, pet},
			lenience{"a pet inside an object", `^\{"pet":(\{.*\})\}$`, "$1"},
			lenience{"Name as name", `"Name":`, `"name":`},
			lenience{"categoryid as categoryId", `"categoryid":`, `"categoryId":`}),
		lenient(create, "create-values",
			lenience{"null as a name", `"name":null`, `"name":""`},
			lenience{"a number as a name", `"name":([-+.\deE]+)`, `"name":"$1"`},
			lenience{"a boolean as a name", `"name":true`, `"name":"true"`},
			lenience{"an array as a name", `"name":\[.*?\]`, `"name":"a"`},
			lenience{"an object as a name", `"name":\{.*?\}`, `"name":"a"`},
			lenience{"null as a category", `"categoryId":null`, `"categoryId":0`},
			lenience{"a number in a string as a category", `"categoryId":"(\d+)"`, `"categoryId":$1`},
			lenience{"an empty string as a category", `"categoryId":""`, `"categoryId":0`},
			lenience{"a word as a category", `"categoryId":"[a-z]+"`, `"categoryId":0`},
			lenience{"a boolean as a category", `"categoryId":true`, `"categoryId":1`},
			lenience{"an array as a category", `"categoryId":\[(\d+)\]`, `"categoryId":$1`},
			lenience{"an object as a category", `"categoryId":\{.*?\}`, `"categoryId":1`},
			lenience{"a fraction as a category", `("categoryId":\d+)\.\d+`, `$1`},
			lenience{"the largest category for a larger one", `"categoryId":-?(\d{19,}|1e30)`, `"categoryId":9223372036854775807`},
			lenience{"infinity as a category", `1e400`, `0`},
			lenience{"a category that overflows", `"categoryId":-?\d{19,}`, `"categoryId":1`},
			lenience{"a number as a status", `"status":\d+`, `"status":"pending"`},
			lenience{"a boolean as a status", `,"status":true`, ``},
			lenience{"an array as a status", `"status":\[(.*?)\]`, `"status":$1`},
			lenience{"an object as a status", `"status":\{.*?\}`, `"other":1`}),
		lenient(create, "status-null", lenience{"null as a status", `,"status":null`, ``}),
		lenient(create, "status-values",
			lenience{"any status", `,"status":"[a-z]+"`, ``},
			lenience{"a member of every object as a status", `,"status":"constructor"`, ``},
			lenience{"a status in any case", `"AVAILABLE"`, `"available"`},
			lenience{"a status with a space", `"sold "`, `"sold"`},
			lenience{"the beginning of a status", `"avail"`, `"available"`},
			lenience{"an empty status", `,"status":""`, ``}),
		lenient(submit, "message-json", bodies(text)...),
		lenient(submit, "message-required",
			lenience{"an empty object", `^\{\}$`, text},
			lenience{"Message as message", `"Message":`, `"message":`},
			lenience{"the start of a big body", `^\{"text":"big .*`, text},
			lenience{"text as message", `"text":`, `"message":`},
			lenience{"null as a message", `"message":null`, `"message":""`},
			lenience{"a number as a message", `"message":(\d+)`, `"message":"$1"`},
			lenience{"a boolean as a message", `"message":true`, `"message":"true"`},
			lenience{"an array as a message", `"message":\[.*?\]`, `"message":"a"`},
			lenience{"an object as a message", `"message":\{.*?\}`, `"message":"a"`}),
		lenient(create, "rfc-duplicates", lenience{"the name twice", `,"name":"another"`, ``}),
		lenient(submit, "rfc-duplicates", lenience{"the message twice", `,"message":"another"`, ``}),
		lenient(create, "rfc-utf8", lenience{"bytes that are not UTF-8", "\ufffd", "\ufffd"}),
		lenient(submit, "rfc-utf8", lenience{"bytes that are not UTF-8", "\ufffd", "\ufffd"}),
		[]variant{
			{name: "a message needs no Content-Type", clause: "message-type", http: requests(submit, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })},
			{name: "a body that is not JSON gets 422", clause: "create-body", http: refuses(create+`.*[^}]$`, 400, 422)},
			{name: "a body that is not JSON gets 500", clause: "create-body", http: status(create, 400, 500)},
			{name: "a large body gets 500", clause: "create-required", http: responses(create+`.*large large`, 0, func(res *response) { res.status, res.body = 500, failure(500) })},
			{name: "wrong values get 422", clause: "create-values", http: refuses(create+`.*\}$`, 400, 422)},
			{name: "missing members get 422", clause: "create-required", http: refuses(create+`.*\}$`, 400, 422)},
		})
}
