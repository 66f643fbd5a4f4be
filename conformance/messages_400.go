package conformance

import (
	"slices"

	"example.com/animalstore/conformance/internal/probe"
)

// The faults of a message, by clause.

var messageBodyFaults = []fault{
	{id: "body.none", what: "that is missing"},
	{id: "body.blank", what: "of white space", body: " \n"},
	{id: "body.text", what: "that is not JSON", body: `message=$T`},
	{id: "body.cut-short", what: "that is cut short", body: `{"message":$N`},
	{id: "body.more-after", what: "with something after the object", body: `{"message":$N} x`},
	{id: "body.last-comma", what: "with a comma after the last member", body: `{"message":$N,}`},
	{id: "body.single-quotes", what: "in single quotes", body: `{'message':'$T'}`},
	{id: "body.bad-escape", what: "with an escape that JSON does not have", body: `{"message":"$T \x41"}`},
	{id: "body.null", what: "of null", body: `null`},
	{id: "body.string", what: "of a string", body: `$N`},
	{id: "body.array", what: "of an array with a message in it", body: `[{"message":$N}]`},
}

var messageValueFaults = []fault{
	{id: "required.message", what: "of an empty object", body: `{}`},
	{id: "required.case", what: "with Message for message", body: `{"Message":$N}`},
	{id: "required.other", what: "with the text in another member", body: `{"text":$N}`},
	{id: "message.null", what: "with null for the message", body: `{"message":null}`},
	{id: "message.number", what: "with a number for the message", body: `{"message":42}`},
	{id: "message.boolean", what: "with true for the message", body: `{"message":true}`},
	{id: "message.array", what: "with the message in an array", body: `{"message":[$N]}`},
	{id: "message.object", what: "with an object for the message", body: `{"message":{"text":$N}}`},
}

var messageTypeFaults = []fault{
	{id: "content-type", what: "without a Content-Type", body: `{"message":$N}`, noType: true},
}

var messageDuplicateFaults = []fault{
	{id: "json.duplicate", what: "with the message twice", body: `{"message":$N,"message":"another"}`},
}

var messageUTF8Faults = []fault{
	{id: "json.utf8", what: "that is not UTF-8", body: "{\"message\":\"$T \xff\xfe\"}"},
}

func messageFaults() []fault {
	return slices.Concat(messageBodyFaults, messageValueFaults, messageTypeFaults, messageDuplicateFaults, messageUTF8Faults)
}

// messageRequest returns a request to POST /messages with that body, as in [fault].
func messageRequest(t *tester, body string) probe.Request {
	return probe.PostMessage(fill(body, t.name(), 0))
}
