package conformance_test

import (
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// lenientServers take what they have to refuse, each one kind of it.
func lenientServers() []variant {
	const pet, text = `{"name":"none","categoryId":1}`, `{"message":"none"}`
	bodiesFor := func(op, whole string) []variant {
		is := func(from string) wrapper {
			return bodies(op, func(s string) string {
				if strings.TrimSpace(s) == from && !(from == "" && s != "") {
					return whole
				}
				return s
			})
		}
		kind := func(k jsontext.Kind) wrapper {
			return bodies(op, func(s string) string {
				if v := jsontext.Value(s); v.IsValid() && v.Kind() == k {
					return whole
				}
				return s
			})
		}
		return []variant{
			{name: "takes no body", http: is("")},
			{name: "takes a body of white space", http: bodies(op, func(s string) string {
				if s != "" && strings.TrimSpace(s) == "" {
					return whole
				}
				return s
			})},
			{name: "takes a form", http: bodies(op, func(s string) string {
				if strings.HasPrefix(s, "name=") || strings.HasPrefix(s, "message=") {
					return whole
				}
				return s
			})},
			{name: "takes a body cut short", http: reads(op, `([^}])$`, `$1}`)},
			{name: "reads the first value of a body only", http: reads(op, `^(\{[^{}]*\}).+$`, `$1`)},
			{name: "takes a comma too many", http: reads(op, `,\}$`, `}`)},
			{name: "takes single quotes", http: reads(op, `'`, `"`)},
			{name: "takes names without quotes", http: reads(op, `([{,])(\w+):`, `$1"$2":`)},
			{name: "takes comments", http: reads(op, `/\*.*\*/`, ``)},
			{name: "takes a line break in a string", http: reads(op, "\n\"", `"`)},
			{name: "takes escapes that there are not", http: reads(op, `\\x`, `x`)},
			{name: "takes NaN for 0", http: reads(op, `NaN`, `0`)},
			{name: "takes null for an object", http: kind('n')},
			{name: "takes true for an object", http: kind('t')},
			{name: "takes a number for an object", http: kind('0')},
			{name: "takes a string for an object", http: kind('"')},
			{name: "takes the first of an array", http: bodies(op, func(s string) string {
				if strings.HasPrefix(s, "[{") {
					return strings.Trim(s, "[]")
				}
				return s
			})},
			{name: "takes an empty array for an object", http: is("[]")},
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
	all = append(all, of(submit, "message-json", slicesWithout(bodiesFor(submit, text),
		"takes comments", "takes NaN for 0", "takes names without quotes", "takes a line break in a string",
		"takes true for an object", "takes a number for an object", "takes an empty array for an object"))...)
	all = append(all, of(submit, "message-required", lenientMessages())...)
	return append(all, of(create, "create-body", []variant{
		{name: "refuses what is no JSON with 422", http: refusal422(create, true)},
		{name: "refuses wrong values with 422", clause: "create-values", http: refusal422(create, false)},
		{name: "refuses what is missing with 422", clause: "create-required", http: refusal422(create, false)},
		{name: "refuses what is no JSON with 500", http: status(create, 400, 500)},
	})...)
}

// operations names the operations in the names of broken servers.
var operations = map[string]string{list: "GET /pets", create: "POST /pets", fetch: "GET /pets/{petId}", submit: "POST /messages"}

func slicesWithout(list []variant, names ...string) []variant {
	var kept []variant
	for _, v := range list {
		if !strings.Contains(strings.Join(names, "\n")+"\n", v.name+"\n") {
			kept = append(kept, v)
		}
	}
	return kept
}

func refusal422(op string, broken bool) wrapper {
	return answers(op, func(a *answer) {
		if a.status == 400 && jsontext.Value(a.sent).IsValid() != broken {
			a.status = 422
			a.body = []byte(strings.ReplaceAll(string(a.body), "400", "422"))
		}
	})
}

func lenientRequired() []variant {
	rename := func(from, to string) wrapper {
		return members(create, func(o object) {
			if v, ok := o[from]; ok {
				o[to] = v
			}
		})
	}
	return []variant{
		{name: "takes a pet without a name", http: defaults(create, "name", `""`)},
		{name: "takes a pet without a category", http: defaults(create, "categoryId", `0`)},
		{name: "takes an empty object", http: members(create, func(o object) {
			if len(o) == 0 {
				o["name"], o["categoryId"] = quoted("none"), jsontext.Value("0")
			}
		})},
		{name: "takes a pet inside an object", http: members(create, func(o object) {
			if v, ok := o["pet"]; ok {
				mustUnmarshal(v, &o)
			}
		})},
		{name: "takes Name for name", http: rename("Name", "name")},
		{name: "takes categoryid for categoryId", http: rename("categoryid", "categoryId")},
	}
}

func lenientValues() []variant {
	name := func(pattern, instead string) wrapper { return takes(create, "name", like(pattern), instead) }
	category := func(pattern, instead string) wrapper { return takes(create, "categoryId", like(pattern), instead) }
	status := func(pattern, instead string) wrapper { return takes(create, "status", like(pattern), instead) }
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
		{name: "takes null for a name", http: name(`^null$`, `""`)},
		{name: "takes a number for a name", http: name(`^\d`, `"42"`)},
		{name: "takes a boolean for a name", http: name(`^true$`, `"true"`)},
		{name: "takes an array for a name", http: name(`^\[`, `"a"`)},
		{name: "takes an object for a name", http: name(`^\{`, `"a"`)},
		{name: "takes null for a category", http: category(`^null$`, `0`)},
		{name: "takes a number in a string for a category", http: category(`^"\d+"$`, `1`)},
		{name: "takes an empty string for a category", http: category(`^""$`, `0`)},
		{name: "takes a word for a category", http: category(`^"[a-z]+"$`, `0`)},
		{name: "takes a boolean for a category", http: category(`^true$`, `1`)},
		{name: "takes an array for a category", http: category(`^\[`, `1`)},
		{name: "takes an object for a category", http: category(`^\{`, `1`)},
		{name: "cuts fractions off a category", http: number(func(r *big.Rat) *big.Int {
			if r.IsInt() {
				return r.Num()
			}
			return whole(r)
		})},
		{name: "keeps a category within int64", http: number(func(r *big.Rat) *big.Int {
			n := whole(r)
			switch {
			case !r.IsInt():
				return big.NewInt(0).SetBit(n, 70, 1) // as refused as it was
			case n.IsInt64():
				return n
			case n.Sign() < 0:
				return big.NewInt(-1 << 63)
			}
			return big.NewInt(1<<63 - 1)
		})},
		{name: "lets a category wrap around", http: number(func(r *big.Rat) *big.Int {
			n := whole(r)
			if !r.IsInt() || n.IsInt64() {
				return n
			}
			n.And(n, new(big.Int).SetUint64(1<<64-1))
			return big.NewInt(int64(n.Uint64()))
		})},
		{name: "takes null for a status", http: status(`^null$`, "")},
		{name: "takes a number for a status", http: status(`^\d`, `"pending"`)},
		{name: "takes a boolean for a status", http: status(`^true$`, "")},
		{name: "takes an array for a status", http: status(`^\[`, `"sold"`)},
		{name: "takes an object for a status", http: status(`^\{`, "")},
		{name: "takes any status", clause: values, http: status(`^"[a-z]+"$`, "")},
		{name: "takes a status in any case", clause: values, http: status(`^"AVAILABLE"$`, `"available"`)},
		{name: "takes a status with a space", clause: values, http: status(`^"sold "$`, `"sold"`)},
		{name: "takes the beginning of a status", clause: values, http: status(`^"avail"$`, `"available"`)},
		{name: "takes an empty status", clause: values, http: status(`^""$`, "")},
	}
}

func lenientMessages() []variant {
	message := func(pattern, instead string) wrapper { return takes(submit, "message", like(pattern), instead) }
	rename := func(from string) wrapper {
		return members(submit, func(o object) {
			if v, ok := o[from]; ok {
				o["message"] = v
			}
		})
	}
	return []variant{
		{name: "takes an empty object", http: members(submit, func(o object) {
			if len(o) == 0 {
				o["message"] = quoted("")
			}
		})},
		{name: "takes Message for message", http: rename("Message")},
		{name: "takes text for message", http: rename("text")},
		{name: "takes null for a message", http: message(`^null$`, `""`)},
		{name: "takes a number for a message", http: message(`^\d`, `"42"`)},
		{name: "takes a boolean for a message", http: message(`^true$`, `"true"`)},
		{name: "takes an array for a message", http: message(`^\[`, `"a"`)},
		{name: "takes an object for a message", http: message(`^\{`, `"a"`)},
		{name: "takes a message without a Content-Type", clause: "message-type", http: withContentType},
	}
}
