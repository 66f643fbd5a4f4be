package conformance

import (
	"net/http"
	"strconv"
)

// messageFaults returns the ways in which a message can be wrong, one at a
// time. $N and $T stand for a text that only this body has.
func messageFaults() []fault {
	const (
		json     = "message-json"
		required = "message-required"
	)
	return []fault{
		{id: "body.none", what: "that is missing", nobody: true, clause: json},
		{id: "body.blank", what: "of white space", body: " \n", clause: json},
		{id: "body.text", what: "that is no JSON", body: `message=$T`, clause: json},
		{id: "body.cut-short", what: "that is cut short", body: `{"message":$N`, clause: json},
		{id: "body.more-after", what: "with something after the object", body: `{"message":$N} x`, clause: json},
		{id: "body.last-comma", what: "with a comma after the last member", body: `{"message":$N,}`, clause: json},
		{id: "body.single-quotes", what: "in single quotes", body: `{'message':'$T'}`, clause: json},
		{id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"message":"$T \x41"}`, clause: json},
		{id: "body.null", what: "of null", body: `null`, clause: json},
		{id: "body.string", what: "of a string", body: `$N`, clause: json},
		{id: "body.array", what: "of an array with a message in it", body: `[{"message":$N}]`, clause: json},

		{id: "required.message", what: "of an empty object", body: `{}`, clause: required},
		{id: "required.case", what: "with Message for message", body: `{"Message":$N}`, clause: required},
		{id: "required.other", what: "with the text in another member", body: `{"text":$N}`, clause: required},
		{id: "message.null", what: "with null for the message", body: `{"message":null}`, clause: required},
		{id: "message.number", what: "with a number for the message", body: `{"message":42}`, clause: required},
		{id: "message.boolean", what: "with true for the message", body: `{"message":true}`, clause: required},
		{id: "message.array", what: "with the message in an array", body: `{"message":[$N]}`, clause: required},
		{id: "message.object", what: "with an object for the message", body: `{"message":{"text":$N}}`, clause: required},

		{id: "content-type", what: "without a Content-Type", body: `{"message":$N}`, ctype: "none", clause: "message-type"},

		{id: "json.duplicate", what: "with the message twice", body: `{"message":$N,"message":"another"}`, clause: "rfc-duplicates", level: Recommended},
		{id: "json.utf8", what: "that is not UTF-8", body: "{\"message\":\"$T \xff\xfe\"}", clause: "rfc-utf8", level: Recommended},
	}
}

func messageFaultChecks() []Check {
	var checks []Check
	for _, f := range messageFaults() {
		checks = append(checks, Check{
			ID: "messages.400." + f.id, Title: "a message in a body " + f.what + " gets 400",
			Clause: f.clause, Level: f.Level(), Feature: FeatureMessages, Writes: true,
			Why:     "A client that errs must learn it, before what it sent is taken for a message.",
			Failure: "POST /messages with " + strconv.Quote(f.body) + " ($N: a text, $T: the same without quotes) is answered with another status than 400.",
			run: func(p *probe) error {
				x, err := p.messageRefusal(f)
				if err != nil {
					return err
				}
				return p.want(x, 400, "a body "+f.what)
			},
		})
	}
	return checks
}

// messageRefusal submits a wrong body, once for all checks that look at the
// answer.
func (p *probe) messageRefusal(f fault) (*exchange, error) {
	return once(p, "messages.400."+f.id, func(p *probe) (*exchange, error) {
		r := postMessage(f.fill(p.name(), 0))
		if f.nobody {
			r.body = nil
		}
		if f.ctype == "none" {
			r.ctype = ""
		}
		return p.do(r)
	})
}

// messageAuthChecks are about the credential and the errors of POST
// /messages.
func messageAuthChecks() []Check {
	op := messageOperation()
	checks := op.checks("messages.auth.")
	sources := []errorSource{
		{"400", 400, FeatureMessages, true, "to a message that is wrong", messageErrors400},
		{"401", 401, FeatureMessages, true, "to a message without a valid credential", messageErrors401},
	}
	for _, src := range sources {
		checks = append(checks, src.checks("messages.errors."+src.id+".")...)
	}
	return append(checks,
		Check{
			ID: "messages.auth.challenge", Title: "a 401 to a message challenges for a bearer token",
			Clause: "rfc-challenge", Level: Recommended, Feature: FeatureMessages, Writes: true,
			Why:     "Generic clients learn from it how to authenticate.",
			Failure: "A 401 without WWW-Authenticate, or with one that does not offer the scheme Bearer.",
			run:     func(p *probe) error { return p.challenge(op) },
		},
		Check{
			ID: "messages.auth.scheme-case", Title: "the scheme is taken in any case with a message",
			Clause: "rfc-scheme", Level: Recommended, Feature: FeatureMessages, Writes: true,
			Why:     "Some clients write bearer.",
			Failure: "The valid key after bearer in lower case is refused.",
			run:     func(p *probe) error { return p.schemeCase(postMessage(messageBody(p.name()))) },
		},
		Check{
			ID: "messages.no-5xx", Title: "no bad message gets 5xx",
			Clause: "server-errors", Level: Required, Feature: FeatureMessages, Writes: true,
			Why:     "A 5xx tells the client that the server is broken and to try again.",
			Failure: "One of a set of strange bodies is answered with 5xx, or the connection is dropped.",
			run:     noMessageServerErrors,
		},
	)
}

func messageErrors400(p *probe) ([]*exchange, error) {
	var answers []*exchange
	for _, f := range messageFaults() {
		if x, err := p.messageRefusal(f); err == nil && x.status == http.StatusBadRequest {
			answers = append(answers, x)
		}
	}
	return answers, nil
}

func messageErrors401(p *probe) ([]*exchange, error) {
	return p.denials(messageOperation()), nil
}

func noMessageServerErrors(p *probe) error {
	var requests []request
	for _, body := range append(strangeBodies(), `{"message":"\ud800"}`, `{"message":"a\u0000b"}`) {
		requests = append(requests, postMessage(body))
	}
	return p.none5xx(requests)
}
