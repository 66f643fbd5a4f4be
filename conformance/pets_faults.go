package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// fault is a body with one thing wrong.
type fault struct {
	id   string
	what string // completes "a body …"

	// body has $N for a name that only this body has, as a JSON string, $T
	// for the same without quotes, and $C for a category that is accepted.
	// Nil and empty differ: nil sends no body at all.
	body   string
	nobody bool
	ctype  string // "": application/json

	clause string
	level  Level // "": required
}

// petFaults returns every way in which a body to add a pet can be wrong,
// one at a time.
func petFaults() []fault {
	const (
		body     = "create-body"
		required = "create-required"
		values   = "create-values"
	)
	return []fault{
		{id: "body.none", what: "that is missing", nobody: true, clause: body},
		{id: "body.blank", what: "of white space", body: " \n", clause: body},
		{id: "body.text", what: "that is no JSON", body: `name=$T&categoryId=$C`, clause: body},
		{id: "body.cut-short", what: "that is cut short", body: `{"name":$N,"categoryId":$C`, clause: body},
		{id: "body.more-after", what: "with something after the object", body: `{"name":$N,"categoryId":$C} x`, clause: body},
		{id: "body.two", what: "of two objects", body: `{"name":$N,"categoryId":$C}{"name":$N,"categoryId":$C}`, clause: body},
		{id: "body.last-comma", what: "with a comma after the last member", body: `{"name":$N,"categoryId":$C,}`, clause: body},
		{id: "body.single-quotes", what: "in single quotes", body: `{'name':'$T','categoryId':$C}`, clause: body},
		{id: "body.no-quotes", what: "with names that are not quoted", body: `{name:$N,categoryId:$C}`, clause: body},
		{id: "body.comment", what: "with a comment", body: `{"name":$N,/* a dog */"categoryId":$C}`, clause: body},
		{id: "body.line-break", what: "with a line break inside a string", body: "{\"name\":\"$T\n\",\"categoryId\":$C}", clause: body},
		{id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"name":"$T \x41","categoryId":$C}`, clause: body},
		{id: "body.nan", what: "with NaN for a number", body: `{"name":$N,"categoryId":NaN}`, clause: body},
		{id: "body.null", what: "of null", body: `null`, clause: body},
		{id: "body.true", what: "of true", body: `true`, clause: body},
		{id: "body.number", what: "of a number", body: `7`, clause: body},
		{id: "body.string", what: "of a string", body: `$N`, clause: body},
		{id: "body.array", what: "of an array with a pet in it", body: `[{"name":$N,"categoryId":$C}]`, clause: body},
		{id: "body.empty-array", what: "of an empty array", body: `[]`, clause: body},

		{id: "required.all", what: "of an empty object", body: `{}`, clause: required},
		{id: "required.name", what: "without name", body: `{"categoryId":$C}`, clause: required},
		{id: "required.category", what: "without categoryId", body: `{"name":$N}`, clause: required},
		{id: "required.name-status", what: "of categoryId and status", body: `{"categoryId":$C,"status":"sold"}`, clause: required},
		{id: "required.category-status", what: "of name and status", body: `{"name":$N,"status":"sold"}`, clause: required},
		{id: "required.wrapped", what: "with the pet inside another object", body: `{"pet":{"name":$N,"categoryId":$C}}`, clause: required},
		{id: "required.name-case", what: "with Name for name", body: `{"Name":$N,"categoryId":$C}`, clause: required},
		{id: "required.category-case", what: "with categoryid for categoryId", body: `{"name":$N,"categoryid":$C}`, clause: required},

		{id: "name.null", what: "with null for the name", body: `{"name":null,"categoryId":$C}`, clause: values},
		{id: "name.number", what: "with a number for the name", body: `{"name":42,"categoryId":$C}`, clause: values},
		{id: "name.boolean", what: "with true for the name", body: `{"name":true,"categoryId":$C}`, clause: values},
		{id: "name.array", what: "with an array for the name", body: `{"name":[$N],"categoryId":$C}`, clause: values},
		{id: "name.object", what: "with an object for the name", body: `{"name":{"first":$N},"categoryId":$C}`, clause: values},

		{id: "category.null", what: "with null for the category", body: `{"name":$N,"categoryId":null}`, clause: values},
		{id: "category.string", what: "with the category in a string", body: `{"name":$N,"categoryId":"$C"}`, clause: values},
		{id: "category.empty", what: "with an empty string for the category", body: `{"name":$N,"categoryId":""}`, clause: values},
		{id: "category.word", what: "with a word for the category", body: `{"name":$N,"categoryId":"dogs"}`, clause: values},
		{id: "category.boolean", what: "with true for the category", body: `{"name":$N,"categoryId":true}`, clause: values},
		{id: "category.fraction", what: "with a fraction for the category", body: `{"name":$N,"categoryId":$C.5}`, clause: values},
		{id: "category.array", what: "with the category in an array", body: `{"name":$N,"categoryId":[$C]}`, clause: values},
		{id: "category.object", what: "with the category in an object", body: `{"name":$N,"categoryId":{"id":$C}}`, clause: values},
		{id: "category.above", what: "with a category one above int64", body: `{"name":$N,"categoryId":9223372036854775808}`, clause: values},
		{id: "category.below", what: "with a category one below int64", body: `{"name":$N,"categoryId":-9223372036854775809}`, clause: values},
		{id: "category.wraps", what: "with a category of 2^64 and more", body: `{"name":$N,"categoryId":18446744073709551617}`, clause: values},
		{id: "category.far", what: "with a category far beyond int64", body: `{"name":$N,"categoryId":1e30}`, clause: values},

		{id: "status.unknown", what: "with a status that there is not", body: `{"name":$N,"categoryId":$C,"status":"lost"}`, clause: "status-values"},
		{id: "status.case", what: "with a status in upper case", body: `{"name":$N,"categoryId":$C,"status":"AVAILABLE"}`, clause: "status-values"},
		{id: "status.spaces", what: "with a space after the status", body: `{"name":$N,"categoryId":$C,"status":"sold "}`, clause: "status-values"},
		{id: "status.prefix", what: "with a status cut short", body: `{"name":$N,"categoryId":$C,"status":"avail"}`, clause: "status-values"},
		{id: "status.empty", what: "with an empty status", body: `{"name":$N,"categoryId":$C,"status":""}`, clause: "status-values"},
		{id: "status.null", what: "with null for the status", body: `{"name":$N,"categoryId":$C,"status":null}`, clause: values},
		{id: "status.number", what: "with a number for the status", body: `{"name":$N,"categoryId":$C,"status":1}`, clause: values},
		{id: "status.boolean", what: "with true for the status", body: `{"name":$N,"categoryId":$C,"status":true}`, clause: values},
		{id: "status.array", what: "with the status in an array", body: `{"name":$N,"categoryId":$C,"status":["sold"]}`, clause: values},
		{id: "status.object", what: "with an object for the status", body: `{"name":$N,"categoryId":$C,"status":{}}`, clause: values},

		{id: "json.duplicate", what: "with the name twice", body: `{"name":$N,"categoryId":$C,"name":"another"}`, clause: "rfc-duplicates", level: Recommended},
		{id: "json.utf8", what: "that is not UTF-8", body: "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}", clause: "rfc-utf8", level: Recommended},
	}
}

func faultChecks() []Check {
	var checks []Check
	for _, f := range petFaults() {
		checks = append(checks, Check{
			ID: "pets.create.400." + f.id, Title: "a body " + f.what + " gets 400",
			Clause: f.clause, Level: f.Level(), Feature: FeaturePets, Writes: true,
			Why:     "A client that errs must learn it, before what it sent is taken for a pet.",
			Failure: "POST /pets with " + strconv.Quote(f.body) + " ($N: a name, $T: the same without quotes, $C: a category) is answered with another status than 400.",
			run: func(p *probe) error {
				_, x, err := p.refusal(f)
				if err != nil {
					return err
				}
				return p.want(x, 400, "a body "+f.what)
			},
		})
	}
	return checks
}

// Level returns the fault's level with its default.
func (f fault) Level() Level {
	if f.level == "" {
		return Required
	}
	return f.level
}

// fill returns f's body with what $N, $T and $C stand for.
func (f fault) fill(name string, category int64) string {
	return strings.NewReplacer(
		"$N", string(quoteJSON("", name)), "$T", name, "$C", fmt.Sprint(category),
	).Replace(f.body)
}

// refused is the answer to a body that is wrong.
type refused struct {
	name string // of the pet that would be there if it were accepted; "": none of its own
	x    *exchange
}

// refusal sends a wrong body, once for all checks that look at the answer.
func (p *probe) refusal(f fault) (string, *exchange, error) {
	r, err := once(p, "pets.create.400."+f.id, func(p *probe) (refused, error) {
		category, err := p.category()
		if err != nil {
			return refused{}, err
		}
		var r refused
		if strings.Contains(f.body, "$N") || strings.Contains(f.body, "$T") {
			r.name = p.name()
		}
		req := post("/pets", f.fill(r.name, category))
		if f.nobody {
			req.body = nil
		}
		r.x, err = p.do(req)
		return r, err
	})
	return r.name, r.x, err
}
