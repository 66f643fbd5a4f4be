package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// fault is a request body with one thing wrong.
type fault struct {
	id   string
	what string // completes "a body …"

	// body has $N for a text that no other request has, as a JSON string, $T
	// for the same without quotes, and $C for a category that the target
	// accepts. "": no body.
	body   string
	noType bool // no Content-Type
}

// The faults of a new pet, by clause.

var bodyFaults = []fault{
	{id: "body.none", what: "that is missing"},
	{id: "body.blank", what: "of white space", body: " \n"},
	{id: "body.text", what: "that is not JSON", body: `name=$T&categoryId=$C`},
	{id: "body.cut-short", what: "that is cut short", body: `{"name":$N,"categoryId":$C`},
	{id: "body.more-after", what: "with something after the object", body: `{"name":$N,"categoryId":$C} x`},
	{id: "body.two", what: "of two objects", body: `{"name":$N,"categoryId":$C}{"name":$N,"categoryId":$C}`},
	{id: "body.last-comma", what: "with a comma after the last member", body: `{"name":$N,"categoryId":$C,}`},
	{id: "body.single-quotes", what: "in single quotes", body: `{'name':'$T','categoryId':$C}`},
	{id: "body.no-quotes", what: "with names that are not quoted", body: `{name:$N,categoryId:$C}`},
	{id: "body.comment", what: "with a comment", body: `{"name":$N,/* a dog */"categoryId":$C}`},
	{id: "body.line-break", what: "with a line break inside a string", body: "{\"name\":\"$T\n\",\"categoryId\":$C}"},
	{id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"name":"$T \x41","categoryId":$C}`},
	{id: "body.nan", what: "with NaN for a number", body: `{"name":$N,"categoryId":NaN}`},
	{id: "body.null", what: "of null", body: `null`},
	{id: "body.true", what: "of true", body: `true`},
	{id: "body.number", what: "of a number", body: `7`},
	{id: "body.string", what: "of a string", body: `$N`},
	{id: "body.array", what: "of an array with a pet in it", body: `[{"name":$N,"categoryId":$C}]`},
	{id: "body.empty-array", what: "of an empty array", body: `[]`},
}

var requiredFaults = []fault{
	{id: "required.all", what: "of an empty object", body: `{}`},
	{id: "required.name", what: "without name", body: `{"categoryId":$C}`},
	{id: "required.category", what: "without categoryId", body: `{"name":$N}`},
	{id: "required.name-status", what: "of categoryId and status", body: `{"categoryId":$C,"status":"sold"}`},
	{id: "required.category-status", what: "of name and status", body: `{"name":$N,"status":"sold"}`},
	{id: "required.wrapped", what: "with the pet inside another object", body: `{"pet":{"name":$N,"categoryId":$C}}`},
	{id: "required.name-case", what: "with Name for name", body: `{"Name":$N,"categoryId":$C}`},
	{id: "required.category-case", what: "with categoryid for categoryId", body: `{"name":$N,"categoryid":$C}`},
}

var valueFaults = []fault{
	{id: "name.null", what: "with null for the name", body: `{"name":null,"categoryId":$C}`},
	{id: "name.number", what: "with a number for the name", body: `{"name":42,"categoryId":$C}`},
	{id: "name.boolean", what: "with true for the name", body: `{"name":true,"categoryId":$C}`},
	{id: "name.array", what: "with an array for the name", body: `{"name":[$N],"categoryId":$C}`},
	{id: "name.object", what: "with an object for the name", body: `{"name":{"first":$N},"categoryId":$C}`},
	{id: "category.null", what: "with null for the category", body: `{"name":$N,"categoryId":null}`},
	{id: "category.string", what: "with the category in a string", body: `{"name":$N,"categoryId":"$C"}`},
	{id: "category.empty", what: "with an empty string for the category", body: `{"name":$N,"categoryId":""}`},
	{id: "category.word", what: "with a word for the category", body: `{"name":$N,"categoryId":"dogs"}`},
	{id: "category.boolean", what: "with true for the category", body: `{"name":$N,"categoryId":true}`},
	{id: "category.fraction", what: "with a fraction for the category", body: `{"name":$N,"categoryId":$C.5}`},
	{id: "category.array", what: "with the category in an array", body: `{"name":$N,"categoryId":[$C]}`},
	{id: "category.object", what: "with the category in an object", body: `{"name":$N,"categoryId":{"id":$C}}`},
	{id: "category.above", what: "with a category one above int64", body: `{"name":$N,"categoryId":9223372036854775808}`},
	{id: "category.below", what: "with a category one below int64", body: `{"name":$N,"categoryId":-9223372036854775809}`},
	{id: "category.wraps", what: "with a category above 2^64", body: `{"name":$N,"categoryId":18446744073709551617}`},
	{id: "category.far", what: "with a category far beyond int64", body: `{"name":$N,"categoryId":1e30}`},
	{id: "status.null", what: "with null for the status", body: `{"name":$N,"categoryId":$C,"status":null}`},
	{id: "status.number", what: "with a number for the status", body: `{"name":$N,"categoryId":$C,"status":1}`},
	{id: "status.boolean", what: "with true for the status", body: `{"name":$N,"categoryId":$C,"status":true}`},
	{id: "status.array", what: "with the status in an array", body: `{"name":$N,"categoryId":$C,"status":["sold"]}`},
	{id: "status.object", what: "with an object for the status", body: `{"name":$N,"categoryId":$C,"status":{}}`},
}

var statusFaults = []fault{
	{id: "status.unknown", what: "with an unknown status", body: `{"name":$N,"categoryId":$C,"status":"lost"}`},
	{id: "status.case", what: "with a status in upper case", body: `{"name":$N,"categoryId":$C,"status":"AVAILABLE"}`},
	{id: "status.spaces", what: "with a space after the status", body: `{"name":$N,"categoryId":$C,"status":"sold "}`},
	{id: "status.prefix", what: "with a status cut short", body: `{"name":$N,"categoryId":$C,"status":"avail"}`},
	{id: "status.empty", what: "with an empty status", body: `{"name":$N,"categoryId":$C,"status":""}`},
}

var duplicateFaults = []fault{
	{id: "json.duplicate", what: "with the name twice", body: `{"name":$N,"categoryId":$C,"name":"another"}`},
}

var utf8Faults = []fault{
	{id: "json.utf8", what: "that is not UTF-8", body: "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}"},
}

func petFaults() []fault {
	return slices.Concat(bodyFaults, requiredFaults, valueFaults, statusFaults, duplicateFaults, utf8Faults)
}

// petRequest returns a request to POST /pets with that body, as in [fault].
func petRequest(t *tester, body string) probe.Request {
	n := t.newPet("")
	r := probe.Post("/pets", fill(body, n.Name, n.Category))
	if strings.Contains(body, "$N") || strings.Contains(body, "$T") {
		r.Pet = n.Name
	}
	return r
}

func fill(body, text string, category int64) string {
	return strings.NewReplacer("$N", quoteJSON(text), "$T", text, "$C", fmt.Sprint(category)).Replace(body)
}

// faultChecks returns the checks that op responds 400 to each fault.
func faultChecks(op operation, faults []fault) []Check {
	return checksOf(faults, func(f fault) Check {
		return Check{
			ID: op.faults + f.id, Title: op.faulty + f.what + " gets 400", Writes: true,
			Why:     "A client must learn that its request is wrong, or " + op.adds + " is added that it did not mean.",
			Failure: op.name + " with " + strconv.Quote(f.body) + " ($N: a JSON string, $T: the same without quotes, $C: a category) gets another status than 400.",
			run:     func(t *tester) { t.wantStatus(t.sendFault(op, f), http.StatusBadRequest, "a body %s", f.what) },
		}
	})
}

// sendFault sends f, once for all checks.
func (t *tester) sendFault(op operation, f fault) *probe.Exchange {
	return share(t, op.faults+f.id, func(t *tester) *probe.Exchange {
		r := op.request(t, f.body)
		if f.body == "" {
			r.Body = nil
		}
		if f.noType {
			r.ContentType = ""
		}
		return t.do(r)
	})
}
