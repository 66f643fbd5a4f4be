package stimuli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// In a body $N stands for a name of its own as a JSON string, $T for the same without
// quotes, $C for a category that the target accepts, and $(x*9) for xxxxxxxxx. A name that other
// clients may use would make their pets look like those of the run.
var repeats = regexp.MustCompile(`(?s)\$\((.+?)\*(\d+)\)`)

// fill returns the body of a row.
func (s *session) fill(body string) string { return s.fillWith(s.name(), body) }

// fillWith is fill with that name.
func (s *session) fillWith(name, body string) string {
	body = strings.NewReplacer("$N", probe.QuoteJSON(name), "$T", name, "$C", fmt.Sprint(s.category)).Replace(body)
	return repeats.ReplaceAllStringFunc(body, func(repeat string) string {
		m := repeats.FindStringSubmatch(repeat)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
}

// row is a body and what it is in words.
type row struct{ what, body string }

// wrongBodies are bodies that must get 400 by a check.
type wrongBodies struct {
	check string
	rows  []row
}

// wrongPets are bodies of POST /pets with one thing wrong.
var wrongPets = []wrongBodies{
	{"pets.create.400.body", []row{
		{"no body", ``}, {"only white space as its body", " \n"},
		{"a form as its body", `name=$T&categoryId=$C`},
		{"a body that is cut short", `{"name":$N,"categoryId":$C`},
		{"text after the object", `{"name":$N,"categoryId":$C} x`},
		{"two objects", `{"name":$N,"categoryId":$C}{"name":$N,"categoryId":$C}`},
		{"a comma after the last member", `{"name":$N,"categoryId":$C,}`},
		{"single quotes", `{'name':'$T','categoryId':$C}`},
		{"names of members without quotes", `{name:$N,categoryId:$C}`},
		{"a comment", `{"name":$N,/* a dog */"categoryId":$C}`},
		{"a line break within a string", "{\"name\":\"$T\n\",\"categoryId\":$C}"},
		{"an escape that JSON does not have", `{"name":"$T \x41","categoryId":$C}`},
		{"NaN for the categoryId", `{"name":$N,"categoryId":NaN}`},
		{"NaN in a further member", `{"name":$N,"categoryId":$C,"age":NaN}`},
		{"Infinity in a further member", `{"name":$N,"categoryId":$C,"age":Infinity}`},
		{"TRUE in a further member", `{"name":$N,"categoryId":$C,"tame":TRUE}`},
		{"a number with leading zeros", `{"name":$N,"categoryId":00$C}`},
		{"a hexadecimal number", `{"name":$N,"categoryId":0x$C}`},
		{"the object in a string", `"{\"name\":\"$T\",\"categoryId\":$C}"`},
		{"null as its body", `null`}, {"true as its body", `true`}, {"a number as its body", `7`}, {"a string as its body", `$N`},
		{"an empty array as its body", `[]`}, {"an array as its body", `[{"name":$N,"categoryId":$C}]`},
	}},
	{"pets.create.400.required", []row{
		{"an empty object", `{}`}, {"no name", `{"categoryId":$C,"status":"sold"}`}, {"no categoryId", `{"name":$N,"status":"sold"}`},
		{"the pet in a member", `{"pet":{"name":$N,"categoryId":$C}}`},
		{"Name instead of name", `{"Name":$N,"categoryId":$C}`}, {"categoryid instead of categoryId", `{"name":$N,"categoryid":$C}`},
		{"category_id instead of categoryId", `{"name":$N,"category_id":$C}`},
		{"200 KiB and no categoryId", `{"name":"$(a*204800)"}`}, {"1 MiB and no categoryId", `{"name":"$(a*1048576)"}`},
		{"quotes in its name and no categoryId", `{"name":"a\"b\\c"}`}, // what an error message must escape
	}},
	{"pets.create.400.values", []row{
		{"null for the name", `{"name":null,"categoryId":$C}`}, {"a number for the name", `{"name":42,"categoryId":$C}`},
		{"a boolean for the name", `{"name":true,"categoryId":$C}`}, {"an array for the name", `{"name":[$N],"categoryId":$C}`},
		{"an object for the name", `{"name":{"first":$N},"categoryId":$C}`},
		{"null for the categoryId", `{"name":$N,"categoryId":null}`}, {"a number in a string for the categoryId", `{"name":$N,"categoryId":"$C"}`},
		{"an empty string for the categoryId", `{"name":$N,"categoryId":""}`}, {"a word for the categoryId", `{"name":$N,"categoryId":"dogs"}`},
		{"quotes in a string for the categoryId", `{"name":$N,"categoryId":"a\"b\\c"}`},
		{"a boolean for the categoryId", `{"name":$N,"categoryId":true}`}, {"a fraction for the categoryId", `{"name":$N,"categoryId":$C.5}`},
		{"an array for the categoryId", `{"name":$N,"categoryId":[$C]}`}, {"an object for the categoryId", `{"name":$N,"categoryId":{"id":$C}}`},
		{"2^63 for the categoryId", `{"name":$N,"categoryId":9223372036854775808}`}, {"-2^63-1 for the categoryId", `{"name":$N,"categoryId":-9223372036854775809}`},
		{"2^64+1 for the categoryId", `{"name":$N,"categoryId":18446744073709551617}`},
		{"1e30 for the categoryId", `{"name":$N,"categoryId":1e30}`}, {"1e400 for the categoryId", `{"name":$N,"categoryId":1e400}`},
		{"a number for the status", `{"name":$N,"categoryId":$C,"status":1}`}, {"true for the status", `{"name":$N,"categoryId":$C,"status":true}`},
		{"false for the status", `{"name":$N,"categoryId":$C,"status":false}`}, {"an array for the status", `{"name":$N,"categoryId":$C,"status":["sold"]}`},
		{"an object for the status", `{"name":$N,"categoryId":$C,"status":{}}`},
	}},
	{"pets.create.400.status.null", []row{{"null for the status", `{"name":$N,"categoryId":$C,"status":null}`}}},
	{"pets.create.400.status", []row{
		{"the status lost", `{"name":$N,"categoryId":$C,"status":"lost"}`}, {"the status constructor", `{"name":$N,"categoryId":$C,"status":"constructor"}`},
		{"the status AVAILABLE", `{"name":$N,"categoryId":$C,"status":"AVAILABLE"}`}, {"a space after the status", `{"name":$N,"categoryId":$C,"status":"sold "}`},
		{"a part of a status", `{"name":$N,"categoryId":$C,"status":"avail"}`}, {"an empty status", `{"name":$N,"categoryId":$C,"status":""}`},
		{"quotes in its status", `{"name":$N,"categoryId":$C,"status":"a\"b\\c"}`},
	}},
	{"pets.create.400.body", notObjects},
	{"pets.create.400.required", otherObjects},
	{"pets.create.400.duplicate", []row{{"the member name twice", `{"name":$N,"categoryId":$C,"name":"another"}`}}},
	{"pets.create.400.utf8", []row{{"bytes that are not UTF-8", "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}"}}},
}

// wrongMessages are bodies of POST /messages with one thing wrong.
var wrongMessages = []wrongBodies{
	{"messages.400.body", []row{
		{"no body", ``}, {"only white space as its body", " \n"}, {"a form as its body", `message=$T`},
		{"a body that is cut short", `{"message":$N`}, {"text after the object", `{"message":$N} x`}, {"a comma after the last member", `{"message":$N,}`},
		{"single quotes", `{'message':'$T'}`}, {"an escape that JSON does not have", `{"message":"$T \x41"}`},
		{"a line break within a string", "{\"message\":\"$T\n\"}"},
		{"NaN in a further member", `{"message":$N,"age":NaN}`},
		{"null as its body", `null`}, {"a string as its body", `$N`}, {"an array as its body", `[{"message":$N}]`},
	}},
	{"messages.400.required", []row{
		{"an empty object", `{}`}, {"Message instead of message", `{"Message":$N}`}, {"text instead of message", `{"text":$N}`},
		{"200 KiB and no message", `{"text":"$(a*204800)"}`}, {"quotes in a member and no message", `{"a\"b\\c":1}`},
		{"null for the message", `{"message":null}`}, {"a number for the message", `{"message":42}`}, {"a boolean for the message", `{"message":true}`},
		{"an array for the message", `{"message":[$N]}`}, {"an object for the message", `{"message":{"text":$N}}`},
	}},
	{"messages.400.body", notObjects},
	{"messages.400.required", otherObjects},
	{"messages.400.duplicate", []row{{"the member message twice", `{"message":$N,"message":"another"}`}}},
	{"messages.400.utf8", []row{{"bytes that are not UTF-8", "{\"message\":\"$T \xff\xfe\"}"}, {"an unpaired surrogate", `{"message":"$T \ud83d"}`}}},
}

// notObjects and otherObjects are bodies that often make servers fail. None is a pet or a
// message.
var (
	notObjects = []row{
		{"a NUL as its body", "$(\x00*1)"}, {"only { as its body", "{"}, {"only [ as its body", "["}, {"only a quote as its body", `"`}, {"only - as its body", "-"},
		{"a body that ends in half a surrogate pair", `{"name":"\ud800`},
		{"an array nested 6000 deep", `$([*6000)$(]*6000)`},
	}
	otherObjects = []row{
		{"a member with an empty name", `{"":""}`}, {"-1e400 for the categoryId and no name", `{"categoryId":-1e400}`},
		{"500 digits for the categoryId and no name", `{"categoryId":$(9*500)}`},
		{"__proto__ and no name", `{"__proto__":{"name":"a"},"categoryId":$C}`}, {"a member named constructor", `{"constructor":null}`},
		{"an object nested 200 deep", `$({"name":*200)1$(}*200)`},
		{"500 members", `{$("m":0,*499)"n":0}`},
	}
)

// form is a way to write a valid pet or message, which is the same as means.
type form struct {
	row
	means     string // the pet in plain JSON, or the text
	mayRefuse probe.Refusal
}

// petForms are ways to write a pet. A target must understand them or may refuse them, but
// not take the pet for another.
var petForms = []form{
	{row{"white space between its tokens", "\n{\r\n\t\"name\" : $N ,\n  \"categoryId\" : $C ,\n\t\"status\":\"sold\"\n}\n\n"}, `{"name":$N,"categoryId":$C,"status":"sold"}`, probe.MustAccept},
	{row{"its members in another order", `{"status":"sold","categoryId":$C,"name":$N}`}, `{"name":$N,"categoryId":$C,"status":"sold"}`, probe.MustAccept},
	{row{"9,000 spaces before the object", `$( *9000){"name":$N,"categoryId":$C}`}, `{"name":$N,"categoryId":$C}`, probe.MustAccept}, // more than one packet
	{row{"escapes for letters", `{"n\u0061me":$N,"categoryId":$C,"status":"s\u006Fld"}`}, `{"name":$N,"categoryId":$C,"status":"sold"}`, probe.MustAccept},
	{row{"escapes for an emoji", `{"name":"$T \ud83e\udd8a \u732b","categoryId":$C}`}, `{"name":"$T 🦊 猫","categoryId":$C}`, probe.With4xx},
	{row{"the id of another pet", `{"id":$I,"name":$N,"categoryId":$C,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, probe.With4xx},
	{row{"further members", `{"owner":{"name":"Bob","categoryId":1,"status":"sold"},"tags":[{"name":"x"}],"name":$N,"categoryId":$C,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, probe.With4xx},
	{row{"members that differ in case", `{"name":$N,"categoryId":$C,"status":"pending","Name":"Bob","CATEGORYID":1,"Status":"sold"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, probe.With4xx},
	{row{"a further member nested 2000 deep", `{"name":$N,"categoryId":$C,"more":$([*2000)$(]*2000)}`}, `{"name":$N,"categoryId":$C}`, probe.With4xx},
	{row{"a further member nested 6000 deep", `{"name":$N,"categoryId":$C,"more":$([*6000)$(]*6000)}`}, `{"name":$N,"categoryId":$C}`, probe.With4xx},
	{row{"a fraction of zero in the categoryId", `{"name":$N,"categoryId":$C.0,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, probe.With4xx},
	{row{"1e2 for the categoryId", `{"name":$N,"categoryId":1e2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, probe.With4xx},
	{row{"1E+2 for the categoryId", `{"name":$N,"categoryId":1E+2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, probe.With4xx},
	{row{"-0 for the categoryId", `{"name":$N,"categoryId":-0,"status":"pending"}`}, `{"name":$N,"categoryId":0,"status":"pending"}`, probe.With4xx},
}

var messageForms = []form{
	{row{"white space between its tokens", " {\n\t\"message\" : $N }\n"}, "$T", probe.MustAccept},
	{row{"escapes for letters", `{"m\u0065ssage":$N}`}, "$T", probe.MustAccept},
	{row{"escapes for emoji", `{"message":"$T \ud83e\udd8a \uD83D\uDC36"}`}, "$T 🦊 🐶", probe.With4xx},
	{row{"a further member", `{"text":"another","message":$N}`}, "$T", probe.With4xx},
	{row{"a member that differs in case", `{"message":$N,"Message":"another"}`}, "$T", probe.With4xx},
	{row{"a status", `{"message":$N,"status":"delivered"}`}, "$T", probe.With4xx},
	{row{"a further member nested 2000 deep", `{"message":$N,"more":$([*2000)$(]*2000)}`}, "$T", probe.With4xx},
	{row{"a further member nested 6000 deep", `{"message":$N,"more":$([*6000)$(]*6000)}`}, "$T", probe.With4xx},
}
