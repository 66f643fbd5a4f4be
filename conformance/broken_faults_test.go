package conformance_test

import (
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// lenientServers accept one kind of request that they must refuse.
func lenientServers() []variant {
	const pet, text = `{"name":"none","categoryId":1}`, `{"message":"none"}`
	bodiesFor := func(op, whole string) []variant {
		takes := func(pattern, with string) wrapper { return bodies(op, replace(pattern, with)) }
		return []variant{
			{name: "accepts no body", http: takes(`^$`, whole)},
			{name: "accepts a body of white space", http: takes(`^\s+$`, whole)},
			{name: "accepts a form", http: takes(`^(name|message)=.*`, whole)},
			{name: "accepts a body cut short", http: reads(op, `([^}])$`, `$1}`)},
			{name: "reads the first value of a body only", http: reads(op, `^(\{[^{}]*\}).+$`, `$1`)},
			{name: "accepts a trailing comma", http: reads(op, `,\}$`, `}`)},
			{name: "accepts single quotes", http: reads(op, `'`, `"`)},
			{name: "accepts names without quotes", http: reads(op, `([{,])(\w+):`, `$1"$2":`)},
			{name: "accepts comments", http: reads(op, `/\*.*\*/`, ``)},
			{name: "accepts a line break in a string", http: reads(op, "\n\"", `"`)},
			{name: "accepts unknown escapes", http: reads(op, `\\x`, `x`)},
			{name: "accepts NaN as 0", http: reads(op, `NaN`, `0`)},
			{name: "accepts null as an object", http: takes(`^null$`, whole)},
			{name: "accepts true as an object", http: takes(`^true$`, whole)},
			{name: "accepts a number as an object", http: takes(`^\d+$`, whole)},
			{name: "accepts a string as an object", http: takes(`^"[^"]*"$`, whole)},
			{name: "accepts the first of an array", http: takes(`^\[(\{.*\})\]$`, "$1")},
			{name: "accepts an empty array as an object", http: takes(`^\[\]$`, whole)},
		}
	}
	of := func(op, clause string, list []variant) []variant {
		for i := range list {
			list[i].name = operations[op] + " " + list[i].name
			if list[i].clause == "" {
				list[i].clause = clause
			}
		}
		return list
	}
	var all []variant
	all = append(all, of(create, "create-body", bodiesFor(create, pet))...)
	all = append(all, of(create, "create-required", lenientRequired())...)
	all = append(all, of(create, "create-values", lenientValues())...)
	petsOnly := []string{
		"accepts comments", "accepts NaN as 0", "accepts names without quotes", "accepts a line break in a string",
		"accepts true as an object", "accepts a number as an object", "accepts an empty array as an object",
	}
	messages := slices.DeleteFunc(bodiesFor(submit, text), func(v variant) bool { return slices.Contains(petsOnly, v.name) })
	all = append(all, of(submit, "message-json", messages)...)
	all = append(all, of(submit, "message-required", lenientMessages())...)
	return append(all, of(create, "create-body", []variant{
		{name: "responds 422 to a body that is not JSON", http: refusal422(create, true)},
		{name: "responds 422 to wrong values", clause: "create-values", http: refusal422(create, false)},
		{name: "responds 422 to missing members", clause: "create-required", http: refusal422(create, false)},
		{name: "responds 500 to a body that is not JSON", http: status(create, 400, 500)},
	})...)
}

// operations names the operations in the names of broken servers.
var operations = map[string]string{list: "GET /pets", create: "POST /pets", fetch: "GET /pets/{petId}", submit: "POST /messages"}

func refusal422(op string, broken bool) wrapper {
	return responses(op, func(res *response) {
		if res.status == 400 && jsontext.Value(res.sent).IsValid() != broken {
			res.status = 422
			res.body = []byte(strings.ReplaceAll(string(res.body), "400", "422"))
		}
	})
}

func lenientRequired() []variant {
	takes := func(pattern, with string) wrapper { return bodies(create, replace(pattern, with)) }
	return []variant{
		{name: "accepts a pet without a name", http: defaults(create, "name", `""`)},
		{name: "accepts a pet without a category", http: defaults(create, "categoryId", `0`)},
		{name: "accepts an empty object", http: takes(`^\{\}$`, `{"name":"none","categoryId":0}`)},
		{name: "accepts a pet inside an object", http: takes(`^\{"pet":(\{.*\})\}$`, "$1")},
		{name: "accepts Name as name", http: takes(`"Name":`, `"name":`)},
		{name: "accepts categoryid as categoryId", http: takes(`"categoryid":`, `"categoryId":`)},
	}
}

func lenientValues() []variant {
	name := func(pattern, instead string) wrapper { return accepts(create, "name", pattern, instead) }
	category := func(pattern, instead string) wrapper { return accepts(create, "categoryId", pattern, instead) }
	status := func(pattern, instead string) wrapper { return accepts(create, "status", pattern, instead) }
	number := func(change func(*big.Rat) *big.Int) wrapper {
		return members(create, func(o object) {
			if r, ok := new(big.Rat).SetString(string(o["categoryId"])); ok {
				o["categoryId"] = jsontext.Value(change(r).String())
			}
		})
	}
	whole := func(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }
	const values = "status-values"
	return []variant{
		{name: "accepts null as a name", http: name(`^null$`, `""`)},
		{name: "accepts a number as a name", http: name(`^\d`, `"42"`)},
		{name: "accepts a boolean as a name", http: name(`^true$`, `"true"`)},
		{name: "accepts an array as a name", http: name(`^\[`, `"a"`)},
		{name: "accepts an object as a name", http: name(`^\{`, `"a"`)},
		{name: "accepts null as a category", http: category(`^null$`, `0`)},
		{name: "accepts a number in a string as a category", http: category(`^"\d+"$`, `1`)},
		{name: "accepts an empty string as a category", http: category(`^""$`, `0`)},
		{name: "accepts a word as a category", http: category(`^"[a-z]+"$`, `0`)},
		{name: "accepts a boolean as a category", http: category(`^true$`, `1`)},
		{name: "accepts an array as a category", http: category(`^\[`, `1`)},
		{name: "accepts an object as a category", http: category(`^\{`, `1`)},
		{name: "truncates a category to an integer", http: number(func(r *big.Rat) *big.Int {
			if r.IsInt() {
				return r.Num()
			}
			return whole(r)
		})},
		{name: "limits a category to int64", http: number(func(r *big.Rat) *big.Int {
			n := whole(r)
			switch {
			case !r.IsInt():
				return big.NewInt(0).SetBit(n, 70, 1) // still out of range
			case n.IsInt64():
				return n
			case n.Sign() < 0:
				return big.NewInt(-1 << 63)
			}
			return big.NewInt(1<<63 - 1)
		})},
		{name: "lets a category overflow", http: number(func(r *big.Rat) *big.Int {
			n := whole(r)
			if !r.IsInt() || n.IsInt64() {
				return n
			}
			n.And(n, new(big.Int).SetUint64(1<<64-1))
			return big.NewInt(int64(n.Uint64()))
		})},
		{name: "accepts null as a status", http: status(`^null$`, "")},
		{name: "accepts a number as a status", http: status(`^\d`, `"pending"`)},
		{name: "accepts a boolean as a status", http: status(`^true$`, "")},
		{name: "accepts an array as a status", http: status(`^\[`, `"sold"`)},
		{name: "accepts an object as a status", http: status(`^\{`, "")},
		{name: "accepts any status", clause: values, http: status(`^"[a-z]+"$`, "")},
		{name: "accepts a status in any case", clause: values, http: status(`^"AVAILABLE"$`, `"available"`)},
		{name: "accepts a status with a space", clause: values, http: status(`^"sold "$`, `"sold"`)},
		{name: "accepts the beginning of a status", clause: values, http: status(`^"avail"$`, `"available"`)},
		{name: "accepts an empty status", clause: values, http: status(`^""$`, "")},
	}
}

func lenientMessages() []variant {
	message := func(pattern, instead string) wrapper { return accepts(submit, "message", pattern, instead) }
	takes := func(pattern, with string) wrapper { return bodies(submit, replace(pattern, with)) }
	return []variant{
		{name: "accepts an empty object", http: takes(`^\{\}$`, `{"message":""}`)},
		{name: "accepts Message as message", http: takes(`"Message":`, `"message":`)},
		{name: "accepts text as message", http: takes(`"text":`, `"message":`)},
		{name: "accepts null as a message", http: message(`^null$`, `""`)},
		{name: "accepts a number as a message", http: message(`^\d`, `"42"`)},
		{name: "accepts a boolean as a message", http: message(`^true$`, `"true"`)},
		{name: "accepts an array as a message", http: message(`^\[`, `"a"`)},
		{name: "accepts an object as a message", http: message(`^\{`, `"a"`)},
		{name: "accepts a message without a Content-Type", clause: "message-type", http: withContentType},
	}
}
