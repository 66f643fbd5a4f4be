package conformance

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/randombody"
)

// Bodies with one fault, and bodies that are generated from the seed.

// fault is a request body with one thing wrong.
type fault struct {
	clause string
	id     string
	what   string // completes "a body …"

	// body has $N for a text that no other request has, as a JSON string, $T
	// for the same without quotes, $C for a category that the target accepts,
	// $B for a text of 200 KiB and $L for one of 1 MiB. "": no body.
	body   string
	noType bool // no Content-Type
	large  bool // so large that the target may refuse it for that
}

var petFaults = []fault{
	{clause: "create-body", id: "body.none", what: "that is missing"},
	{clause: "create-body", id: "body.blank", what: "of white space", body: " \n"},
	{clause: "create-body", id: "body.text", what: "that is not JSON", body: `name=$T&categoryId=$C`},
	{clause: "create-body", id: "body.cut-short", what: "that is cut short", body: `{"name":$N,"categoryId":$C`},
	{clause: "create-body", id: "body.more-after", what: "with something after the object", body: `{"name":$N,"categoryId":$C} x`},
	{clause: "create-body", id: "body.two", what: "of two objects", body: `{"name":$N,"categoryId":$C}{"name":$N,"categoryId":$C}`},
	{clause: "create-body", id: "body.last-comma", what: "with a comma after the last member", body: `{"name":$N,"categoryId":$C,}`},
	{clause: "create-body", id: "body.single-quotes", what: "in single quotes", body: `{'name':'$T','categoryId':$C}`},
	{clause: "create-body", id: "body.no-quotes", what: "with names that are not quoted", body: `{name:$N,categoryId:$C}`},
	{clause: "create-body", id: "body.comment", what: "with a comment", body: `{"name":$N,/* a dog */"categoryId":$C}`},
	{clause: "create-body", id: "body.line-break", what: "with a line break inside a string", body: "{\"name\":\"$T\n\",\"categoryId\":$C}"},
	{clause: "create-body", id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"name":"$T \x41","categoryId":$C}`},
	{clause: "create-body", id: "body.nan", what: "with NaN for a number", body: `{"name":$N,"categoryId":NaN}`},
	{clause: "create-body", id: "body.zeros", what: "with zeros before a number", body: `{"name":$N,"categoryId":00$C}`},
	{clause: "create-body", id: "body.hexadecimal", what: "with a hexadecimal number", body: `{"name":$N,"categoryId":0x$C}`},
	{clause: "create-body", id: "body.twice", what: "of JSON in a JSON string", body: `"{\"name\":\"$T\",\"categoryId\":$C}"`},
	{clause: "create-body", id: "body.null", what: "of null", body: `null`},
	{clause: "create-body", id: "body.true", what: "of true", body: `true`},
	{clause: "create-body", id: "body.number", what: "of a number", body: `7`},
	{clause: "create-body", id: "body.string", what: "of a string", body: `$N`},
	{clause: "create-body", id: "body.array", what: "of an array with a pet in it", body: `[{"name":$N,"categoryId":$C}]`},
	{clause: "create-body", id: "body.empty-array", what: "of an empty array", body: `[]`},
	{clause: "create-required", id: "required.all", what: "of an empty object", body: `{}`},
	{clause: "create-required", id: "required.name", what: "without name", body: `{"categoryId":$C}`},
	{clause: "create-required", id: "required.category", what: "without categoryId", body: `{"name":$N}`},
	{clause: "create-required", id: "required.name-status", what: "of categoryId and status", body: `{"categoryId":$C,"status":"sold"}`},
	{clause: "create-required", id: "required.category-status", what: "of name and status", body: `{"name":$N,"status":"sold"}`},
	{clause: "create-required", id: "required.wrapped", what: "with the pet inside another object", body: `{"pet":{"name":$N,"categoryId":$C}}`},
	{clause: "create-required", id: "required.name-case", what: "with Name for name", body: `{"Name":$N,"categoryId":$C}`},
	{clause: "create-required", id: "required.category-case", what: "with categoryid for categoryId", body: `{"name":$N,"categoryid":$C}`},
	{clause: "create-required", id: "required.large", what: "of 1 MiB without categoryId", body: `{"name":"$L"}`, large: true},
	{clause: "create-required", id: "required.big", what: "of 200 KiB without categoryId", body: `{"name":"$B"}`, large: true},
	{clause: "create-values", id: "name.null", what: "with null for the name", body: `{"name":null,"categoryId":$C}`},
	{clause: "create-values", id: "name.number", what: "with a number for the name", body: `{"name":42,"categoryId":$C}`},
	{clause: "create-values", id: "name.boolean", what: "with true for the name", body: `{"name":true,"categoryId":$C}`},
	{clause: "create-values", id: "name.array", what: "with an array for the name", body: `{"name":[$N],"categoryId":$C}`},
	{clause: "create-values", id: "name.object", what: "with an object for the name", body: `{"name":{"first":$N},"categoryId":$C}`},
	{clause: "create-values", id: "category.null", what: "with null for the category", body: `{"name":$N,"categoryId":null}`},
	{clause: "create-values", id: "category.string", what: "with the category in a string", body: `{"name":$N,"categoryId":"$C"}`},
	{clause: "create-values", id: "category.empty", what: "with an empty string for the category", body: `{"name":$N,"categoryId":""}`},
	{clause: "create-values", id: "category.word", what: "with a word for the category", body: `{"name":$N,"categoryId":"dogs"}`},
	{clause: "create-values", id: "category.boolean", what: "with true for the category", body: `{"name":$N,"categoryId":true}`},
	{clause: "create-values", id: "category.fraction", what: "with a fraction for the category", body: `{"name":$N,"categoryId":$C.5}`},
	{clause: "create-values", id: "category.array", what: "with the category in an array", body: `{"name":$N,"categoryId":[$C]}`},
	{clause: "create-values", id: "category.object", what: "with the category in an object", body: `{"name":$N,"categoryId":{"id":$C}}`},
	{clause: "create-values", id: "category.above", what: "with a category one above int64", body: `{"name":$N,"categoryId":9223372036854775808}`},
	{clause: "create-values", id: "category.below", what: "with a category one below int64", body: `{"name":$N,"categoryId":-9223372036854775809}`},
	{clause: "create-values", id: "category.wraps", what: "with a category above 2^64", body: `{"name":$N,"categoryId":18446744073709551617}`},
	{clause: "create-values", id: "category.far", what: "with a category far beyond int64", body: `{"name":$N,"categoryId":1e30}`},
	{clause: "create-values", id: "category.infinite", what: "with a category beyond floating point", body: `{"name":$N,"categoryId":1e400}`},
	{clause: "status-null", id: "status.null", what: "with null for the status", body: `{"name":$N,"categoryId":$C,"status":null}`},
	{clause: "create-values", id: "status.number", what: "with a number for the status", body: `{"name":$N,"categoryId":$C,"status":1}`},
	{clause: "create-values", id: "status.boolean", what: "with true for the status", body: `{"name":$N,"categoryId":$C,"status":true}`},
	{clause: "create-values", id: "status.array", what: "with the status in an array", body: `{"name":$N,"categoryId":$C,"status":["sold"]}`},
	{clause: "create-values", id: "status.object", what: "with an object for the status", body: `{"name":$N,"categoryId":$C,"status":{}}`},
	{clause: "status-values", id: "status.unknown", what: "with an unknown status", body: `{"name":$N,"categoryId":$C,"status":"lost"}`},
	{clause: "status-values", id: "status.word", what: "with a word of JavaScript for the status", body: `{"name":$N,"categoryId":$C,"status":"constructor"}`},
	{clause: "status-values", id: "status.case", what: "with a status in upper case", body: `{"name":$N,"categoryId":$C,"status":"AVAILABLE"}`},
	{clause: "status-values", id: "status.spaces", what: "with a space after the status", body: `{"name":$N,"categoryId":$C,"status":"sold "}`},
	{clause: "status-values", id: "status.prefix", what: "with a status cut short", body: `{"name":$N,"categoryId":$C,"status":"avail"}`},
	{clause: "status-values", id: "status.empty", what: "with an empty status", body: `{"name":$N,"categoryId":$C,"status":""}`},
	{clause: "rfc-duplicates", id: "json.duplicate", what: "with the name twice", body: `{"name":$N,"categoryId":$C,"name":"another"}`},
	{clause: "rfc-utf8", id: "json.utf8", what: "that is not UTF-8", body: "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}"},
}

var messageFaults = []fault{
	{clause: "message-json", id: "body.none", what: "that is missing"},
	{clause: "message-json", id: "body.blank", what: "of white space", body: " \n"},
	{clause: "message-json", id: "body.text", what: "that is not JSON", body: `message=$T`},
	{clause: "message-json", id: "body.cut-short", what: "that is cut short", body: `{"message":$N`},
	{clause: "message-json", id: "body.more-after", what: "with something after the object", body: `{"message":$N} x`},
	{clause: "message-json", id: "body.last-comma", what: "with a comma after the last member", body: `{"message":$N,}`},
	{clause: "message-json", id: "body.single-quotes", what: "in single quotes", body: `{'message':'$T'}`},
	{clause: "message-json", id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"message":"$T \x41"}`},
	{clause: "message-json", id: "body.null", what: "of null", body: `null`},
	{clause: "message-json", id: "body.string", what: "of a string", body: `$N`},
	{clause: "message-json", id: "body.array", what: "of an array with a message in it", body: `[{"message":$N}]`},
	{clause: "message-required", id: "required.message", what: "of an empty object", body: `{}`},
	{clause: "message-required", id: "required.case", what: "with Message for message", body: `{"Message":$N}`},
	{clause: "message-required", id: "required.other", what: "with the text in another member", body: `{"text":$N}`},
	{clause: "message-required", id: "required.big", what: "of 200 KiB with the text in another member", body: `{"text":"$B"}`, large: true},
	{clause: "message-required", id: "message.null", what: "with null for the message", body: `{"message":null}`},
	{clause: "message-required", id: "message.number", what: "with a number for the message", body: `{"message":42}`},
	{clause: "message-required", id: "message.boolean", what: "with true for the message", body: `{"message":true}`},
	{clause: "message-required", id: "message.array", what: "with the message in an array", body: `{"message":[$N]}`},
	{clause: "message-required", id: "message.object", what: "with an object for the message", body: `{"message":{"text":$N}}`},
	{clause: "message-type", id: "content-type", what: "without a Content-Type", body: `{"message":$N}`, noType: true},
	{clause: "rfc-duplicates", id: "json.duplicate", what: "with the message twice", body: `{"message":$N,"message":"another"}`},
	{clause: "rfc-utf8", id: "json.utf8", what: "that is not UTF-8", body: "{\"message\":\"$T \xff\xfe\"}"},
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

// messageRequest returns a request to POST /messages with that body, as in [fault].
func messageRequest(t *tester, body string) probe.Request {
	return probe.PostMessage(fill(body, t.name(), 0))
}

// Large texts are made once: nearly every check fills in a body. Many servers have a
// limit of 100 KiB, and many proxies one of 1 MiB.
var (
	bigText   = sync.OnceValue(func() string { return strings.Repeat("big ", 50<<10) })
	largeText = sync.OnceValue(func() string { return strings.Repeat("large ", 1<<20/6+1) })
)

func fill(body, text string, category int64) string {
	return strings.NewReplacer("$N", quoteJSON(text), "$T", text, "$C", fmt.Sprint(category), "$B", bigText(), "$L", largeText()).Replace(body)
}

// faultChecks returns the checks that op responds 400 to each of its faults.
func faultChecks(op operation) []Check {
	return checksOf(op.faults, func(f fault) Check {
		return Check{
			ID: op.faultIDs + f.id, Clause: f.clause, Title: op.faultTitle + f.what + " gets 400", Writes: true,
			Why:     "A client must learn that its request is wrong, or " + op.adds + " is added that it did not mean.",
			Failure: op.name + " with " + strconv.Quote(f.body) + " ($N: a JSON string, $T: the same without quotes, $C: a category, $B and $L: 200 KiB and 1 MiB of text) gets a status other than 400.",
			run: func(t *tester) {
				x := t.sendFault(op, f)
				if !f.large || x.Status != http.StatusRequestEntityTooLarge {
					t.wantStatus(x, http.StatusBadRequest, "a body %s", f.what)
				}
			},
		}
	})
}

// sendFault sends f, once for all checks.
func (t *tester) sendFault(op operation, f fault) *probe.Exchange {
	return share(t, op.faultIDs+f.id, func(t *tester) *probe.Exchange {
		r := op.request(t, f.body)
		if f.body == "" {
			r.Body = nil
		}
		if f.noType {
			r.ContentType = ""
		}
		x, e := t.try(r)
		if f.large && e != nil && e.verdict == Fail {
			inconclusive("the target closes the connection of a request that is too large, and its response is lost: %s", e.message)
		}
		e.end()
		return x
	})
}

// sendFaults returns the responses of op to its faults.
func (t *tester) sendFaults(op operation) []*probe.Exchange {
	var responses []*probe.Exchange
	for _, f := range op.faults {
		attempt(func() { responses = append(responses, t.sendFault(op, f)) })
	}
	return responses
}

// How many bodies are generated from the seed. The valid ones stay in the store. The
// wrong ones have every kind of fault.
const (
	generatedValid = 10
	generatedWrong = 40
)

const (
	validFailure = "A valid body that was generated from the seed gets a status other than "
	wrongFailure = "A body with exactly one fault that was generated from the seed gets a status other than 400."
	faulty       = "the body has a fault"
	wrongWhy     = "No list of examples has every fault that a target may accept."
)

var generatedChecks = []Check{
	{
		ID: "generated.pets.valid", Clause: "create", Title: "generated pets are added and kept exactly", Writes: true,
		Why:     "No list of examples has every pet that a target may get wrong.",
		Failure: validFailure + "201, or the pet is changed.",
		phase:   filling, run: func(t *tester) {
			t.generate(generatedValid, randombody.Pet(t.firstPet().Category, t.first().anyCategory).Valid,
				func(body string) { t.wantStored(t.added(t.do(probe.Post("/pets", body)))) })
		},
	},
	{
		ID: "generated.pets.faulty", Clause: "create-values", Title: "generated bodies with one fault get 400", Writes: true,
		Why:     wrongWhy,
		Failure: wrongFailure,
		run: func(t *tester) {
			t.generate(generatedWrong, randombody.Pet(t.firstPet().Category, t.first().anyCategory).Faulty,
				func(body string) { t.wantStatus(t.do(probe.Post("/pets", body)), 400, faulty) })
		},
	},
	{
		ID: "generated.messages.valid", Clause: "message-text", Title: "generated messages are accepted and repeated exactly", Writes: true,
		Why:     "No list of examples has every text that a target may get wrong.",
		Failure: validFailure + "2xx, or the record has another text.",
		run: func(t *tester) {
			t.generate(generatedValid, randombody.Message().Valid, func(body string) { t.wantText(t.do(probe.PostMessage(body))) })
		},
	},
	{
		ID: "generated.messages.faulty", Clause: "message-required", Title: "generated messages with one fault get 400", Writes: true,
		Why:     wrongWhy,
		Failure: wrongFailure,
		run: func(t *tester) {
			t.generate(generatedWrong, randombody.Message().Faulty,
				func(body string) { t.wantStatus(t.do(probe.PostMessage(body)), 400, faulty) })
		},
	},
}

// generate calls test with n bodies that are made from the run's seed. If test
// finds a violation, the check fails with the fault of the body in its message.
func (t *tester) generate(n int, body func(r *rand.Rand, mark string, n int) (body, fault string), test func(body string)) {
	r := t.random()
	for i := range n {
		body, fault := body(r, fmt.Sprintf(" %s-%d", t.s.mark, i+1), i)
		e := attempt(func() { test(body) })
		if e != nil && e.verdict == Fail {
			e = e.with("%s (body %d of seed %d: %s)", e.message, i+1, t.s.opts.Seed, cmp.Or(fault, "it is valid"))
			e.flaw.Clause = cmp.Or(e.flaw.Clause, clauseOf(body, e.proof.Request.Messages))
		}
		e.end()
	}
}

// clauseOf returns the clause that a generated body violates; "": that of its check.
func clauseOf(body string, message bool) string {
	o, err := probe.ParseObject([]byte(body))
	switch {
	case err != nil && message:
		return "message-json"
	case err != nil:
		return "create-body"
	case !message && (o["name"] == nil || o["categoryId"] == nil):
		return "create-required"
	}
	return ""
}
