package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/wire"
)

// In a body $N stands for a name of its own as a JSON string, $T for the same without
// quotes, $C for a category that the target accepts, and $(x*9) for xxxxxxxxx. A name that other
// clients may use would make their pets look like those of the run.
var repeats = regexp.MustCompile(`(?s)\$\((.+?)\*(\d+)\)`)

// fill returns the body of a row with that name.
func (r *run) fill(name, body string) string {
	body = strings.NewReplacer("$N", strconv.Quote(name), "$T", name, "$C", fmt.Sprint(r.category)).Replace(body)
	return repeats.ReplaceAllStringFunc(body, func(repeat string) string {
		m := repeats.FindStringSubmatch(repeat)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
}

// pet returns a valid pet with a name of its own.
func (r *run) pet(status string) wire.NewPet {
	return wire.NewPet{Name: r.name(), Category: r.category, Status: status}
}

// row is a body and what it is in words.
type row struct{ what, body string }

// wrongBodies are bodies that must get 400 by a check.
type wrongBodies struct {
	check string
	rows  []row
}

const withStatus = `{"name":$N,"categoryId":$C,"status":$V}`

// values returns rows of a body with each value of a member, for which $V stands.
func values(member, body string, values ...string) []row {
	var rows []row
	for _, v := range values {
		rows = append(rows, row{"the " + member + " " + v, strings.ReplaceAll(body, "$V", v)})
	}
	return rows
}

// wrongPets are bodies of POST /pets with one thing wrong. $M stands for the members of a valid pet.
var wrongPets = []wrongBodies{
	{"pets.create.400.body", notObjects},
	{"pets.create.400.body", []row{
		{"NaN for the categoryId", `{"name":$N,"categoryId":NaN}`},
		{"a number with leading zeros", `{"name":$N,"categoryId":00$C}`},
		{"a hexadecimal number", `{"name":$N,"categoryId":0x$C}`},
	}},
	{"pets.create.400.required", []row{
		{"an empty object", `{}`}, {"no name", `{"categoryId":$C,"status":"sold"}`}, {"no categoryId", `{"name":$N,"status":"sold"}`},
		{"the pet in a member", `{"pet":{"name":$N,"categoryId":$C}}`},
		{"Name instead of name", `{"Name":$N,"categoryId":$C}`}, {"categoryid instead of categoryId", `{"name":$N,"categoryid":$C}`},
		{"category_id instead of categoryId", `{"name":$N,"category_id":$C}`},
		{"110,000 characters and no categoryId", `{"name":"$T$(a*110000)"}`},
		{"quotes in its name and no categoryId", `{"name":"a\"b\\c$T"}`}, // what an error message must escape
	}},
	{"pets.create.400.values", values("name", `{"name":$V,"categoryId":$C}`, `null`, `42`, `true`, `[$N]`, `{"first":$N}`)},
	{"pets.create.400.values", values("categoryId", `{"name":$N,"categoryId":$V}`, `null`, `"$C"`, `""`, `"dogs"`, `"a\"b\\c"`, `true`,
		`$C.5`, `[$C]`, `{"id":$C}`, `9223372036854775808`, `-9223372036854775809`, `18446744073709551617`, `1e30`, `1e400`)},
	{"pets.create.400.values", values("status", withStatus, `1`, `true`, `false`, `["sold"]`, `{}`)},
	{"pets.create.400.status.null", values("status", withStatus, `null`)},
	{"pets.create.400.status", values("status", withStatus, `"lost"`, `"constructor"`, `"AVAILABLE"`, `"sold "`, `"avail"`, `""`, `"a\"b\\c"`)},
	{"pets.create.400.required", otherObjects},
	{"pets.create.400.duplicate", []row{{"the member name twice", `{"name":$N,"categoryId":$C,"name":"another"}`}}},
	{"pets.create.400.utf8", []row{{"bytes that are not UTF-8", "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}"}}},
}

// wrongMessages are bodies of POST /messages with one thing wrong. $M stands for a valid member.
var wrongMessages = []wrongBodies{
	{"messages.400.body", notObjects},
	{"messages.400.required", []row{
		{"an empty object", `{}`}, {"Message instead of message", `{"Message":$N}`}, {"text instead of message", `{"text":$N}`},
		{"110,000 characters and no message", `{"text":"$(a*110000)"}`}, {"quotes in a member and no message", `{"a\"b\\c":1}`},
	}},
	{"messages.400.required", values("message", `{"message":$V}`, `null`, `42`, `true`, `[$N]`, `{"text":$N}`)},
	{"messages.400.required", otherObjects},
	{"messages.400.duplicate", []row{{"the member message twice", `{"message":$N,"message":"another"}`}}},
	{"messages.400.utf8", []row{{"bytes that are not UTF-8", "{\"message\":\"$T \xff\xfe\"}"}, {"an unpaired surrogate", `{"message":"$T \ud83d"}`}}},
}

// notObjects are bodies that are no JSON object, and otherObjects often make servers fail.
var (
	notObjects = []row{
		{"no body", ``}, {"only white space as its body", " \n"}, {"a form as its body", `name=$T&categoryId=$C&message=$T`},
		{"a body that is cut short", `{$M`}, {"text after the object", `{$M} x`}, {"two objects", `{$M}{$M}`},
		{"a comma after the last member", `{$M,}`}, {"a comment", `{/* a dog */$M}`}, {"single quotes", `{$M,'age':1}`},
		{"a name of a member without quotes", `{$M,age:1}`}, {"a line break within a string", "{$M,\"a\":\"\n\"}"},
		{"an escape that JSON does not have", `{$M,"a":"\x41"}`}, {"NaN in a further member", `{$M,"age":NaN}`},
		{"Infinity in a further member", `{$M,"age":Infinity}`}, {"TRUE in a further member", `{$M,"tame":TRUE}`},
		{"null as its body", `null`}, {"true as its body", `true`}, {"a number as its body", `7`}, {"a string as its body", `$N`},
		{"the object in a string", `"{\"name\":\"$T\",\"categoryId\":$C}"`}, {"an empty array as its body", `[]`}, {"an array as its body", `[{$M}]`},
		{"only { as its body", "{"}, {"only [ as its body", "["}, {"only a quote as its body", `"`}, {"only - as its body", "-"},
		{"a body that ends in half a surrogate pair", `{"name":"\ud800`}, {"an array nested 6000 deep", `$([*6000)$(]*6000)`},
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
	means string // the pet in plain JSON, or the text
	may   allowed
}

const (
	plain   = `{"name":$N,"categoryId":$C}`
	sold    = `{"name":$N,"categoryId":$C,"status":"sold"}`
	pending = `{"name":$N,"categoryId":$C,"status":"pending"}`
)

// petForms are ways to write a pet. A target must understand them or may refuse them, but
// not take the pet for another.
var petForms = []form{
	{row{"white space between its tokens", "\n{\r\n\t\"name\" : $N ,\n  \"categoryId\" : $C ,\n\t\"status\":\"sold\"\n}\n\n"}, sold, success},
	{row{"its members in another order", `{"status":"sold","categoryId":$C,"name":$N}`}, sold, success},
	{row{"9,000 spaces before the object", `$( *9000){"name":$N,"categoryId":$C}`}, plain, success}, // more than one packet
	{row{"escapes for letters", `{"n\u0061me":$N,"categoryId":$C,"status":"s\u006Fld"}`}, sold, success},
	{row{"escapes for an emoji", `{"name":"$T \ud83e\udd8a \u732b","categoryId":$C}`}, `{"name":"$T 🦊 猫","categoryId":$C}`, or4xx},
	{row{"the id of another pet", `{"id":$I,"name":$N,"categoryId":$C,"status":"pending"}`}, pending, or4xx},
	{row{"further members", `{"owner":{"name":"Bob","categoryId":1,"status":"sold"},"tags":[{"name":"x"}],"name":$N,"categoryId":$C,"status":"pending"}`}, pending, or4xx},
	{row{"Name after name", `{"name":$N,"categoryId":$C,"status":"pending","Name":"Name came after name and won"}`}, pending, or4xx},
	{row{"a further member nested 2000 deep", `{"name":$N,"categoryId":$C,"more":$([*2000)$(]*2000)}`}, plain, or4xx},
	{row{"a further member nested 6000 deep", `{"name":$N,"categoryId":$C,"more":$([*6000)$(]*6000)}`}, plain, or4xx},
	{row{"a fraction of zero in the categoryId", `{"name":$N,"categoryId":$C.0,"status":"pending"}`}, pending, or4xx},
	{row{"1e2 for the categoryId", `{"name":$N,"categoryId":1e2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, or4xx},
	{row{"1E+2 for the categoryId", `{"name":$N,"categoryId":1E+2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, or4xx},
	{row{"-0 for the categoryId", `{"name":$N,"categoryId":-0,"status":"pending"}`}, `{"name":$N,"categoryId":0,"status":"pending"}`, or4xx},
}

var messageForms = []form{
	{row{"white space between its tokens", " {\n\t\"message\" : $N }\n"}, "$T", success},
	{row{"escapes for letters", `{"m\u0065ssage":$N}`}, "$T", success},
	{row{"escapes for emoji", `{"message":"$T \ud83e\udd8a \uD83D\uDC36"}`}, "$T 🦊 🐶", or4xx},
	{row{"a further member", `{"text":"another","message":$N}`}, "$T", or4xx},
	{row{"a status", `{"message":$N,"status":"delivered"}`}, "$T", or4xx},
	{row{"a further member nested 2000 deep", `{"message":$N,"more":$([*2000)$(]*2000)}`}, "$T", or4xx},
	{row{"a further member nested 6000 deep", `{"message":$N,"more":$([*6000)$(]*6000)}`}, "$T", or4xx},
}

// categories are those that a target may get wrong.
var categories = []int64{1<<53 + 1, 1<<63 - 1, -1 << 63, -(1<<53 + 1), 0, 1 << 31, 1, -1}

// Names of pets, and texts of messages, that a target may change by mistake. It may refuse
// them. $M stands for the mark of the run without Conf.
var texts = []string{
	// They can be read. With the mark they have at most 20 characters.
	"Old  Yell   a $M", "McDoGgLe ÄÖ $M", "ß İ ı ø ł $M", `"R" 'the' $M`, `\ / \n \u41 $M`,
	"<b>Tom</b> $M", "&amp; <i> %s $M", "{{y}} ${name} $M", "100%25 %41 $M", "cat+dog%20 $M", "=?&#; &lt; $M",
	"<script>a $M", "A OR 1=1 -- $M", "a // b /* $M", "c */ # d -- $M", "$& $1 $$ x $M", "{0} #{n} %d $M", "%@ :name ? $M",
	"“Rex” ‘n’ „ $M", "Tom – — … • $M", "a ™ € «» $M", "Žluťoučký $M", "猫 龍 שלום $M", "مرحبا नम $M",
	"e\u0301 é \u212b A\u030a $M", "ﬁ 한 \u1112\u1161\u11ab $M", "🦊 𝕏 a 𠮷 $M", "a 👩\u200d👩\u200d👧 $M",
	"the\u00a0dog $M", "I ❤\ufe0f dogs $M", "$M " + `C:\new\`,

	// They are empty, or have spaces at an end, no letters, or characters that cannot be seen.
	"", "$M\n", " $M ", "  $M \u00a0 ", "👩\u200d👩\u200d👧🏽", "a\x00b $M", "a\tb $M", "a\nb\r\nc $M",
	"d\x01\x1b\x7f\u0085\u2028 $M", "\u202eabc\u202c \u200f $M", "\u00ad\u200b\u2060. $M", "\ufeff$M",
	"\ufffe\uffff \U0010ffff \ue000 \ufffd $M",

	// They are long.
	"$H $M", // 300 characters
	"$K $M", // 2,000 characters
	"$3 $M", // 6,000 characters of three bytes: one is at the end of each buffer
}

// words are values of other types, and words of programming languages. They have no mark, so an
// earlier run may have sent them.
var words = []string{
	"null", "Null", "true", "false", "undefined", "NaN", "no", "__proto__", "constructor", "toString",
	"7", "0", "4711", "0042", "12345678901234567890", "1e3", "1.10", "2024-02-29", "2024-02-29T12:00:00Z",
	`{"name":"Rex"}`, `"Rex"`, "[object]",
}

// fillText returns a text of the tables, for a run with that mark.
func fillText(text, mark string) string {
	return strings.NewReplacer(
		"$M", mark[len("Conf"):],
		"$H", strings.Repeat("abcdefghi ", 30),
		"$K", strings.Repeat("Ünïcorn 🦄 ", 200),
		"$3", strings.Repeat("猫", 6000),
	).Replace(text)
}
