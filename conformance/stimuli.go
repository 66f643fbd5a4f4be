package conformance

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What a run sends, as tables. Each row says what its body asks for, or what is wrong with
// it. Nothing in a request does harm if it is executed, but some targets fail for good
// after a name that is not UTF-8 or, as the last one, an unpaired surrogate (loneSurrogate).

// meaning is what is known of the body of a POST: the pet or the text that it asks for, or
// the check by which it is wrong.
type meaning struct {
	what string // in words; it completes "the request has …". "": nothing is unusual

	sent *newPet // the pet that it asks for
	text *string // the text that it submits

	after string // a status, which the pet before it has and this one lacks

	// breaks is the ID of the check that an accepted body breaks: most must get 400.
	breaks string

	// Two valid bodies may be refused all the same. With free, the target may refuse it with
	// any 4xx. With arguable, a 400 is a warning of the check with that ID.
	free     bool
	arguable string
}

// post returns the request for an operation with a body of that meaning.
func post(op, body string, m meaning) probe.Request {
	r := probe.Post(strings.TrimPrefix(op, "POST "), body)
	r.Meaning = m
	return r
}

// addPet returns the request for a pet, and submitText the one for a message. m says what
// is unusual.
func addPet(n newPet, m meaning) probe.Request {
	m.sent = &n
	return post(opCreate, n.json(), m)
}

func submitText(text string, m meaning) probe.Request {
	m.text = &text
	return post(opSubmit, fmt.Sprintf(`{"message":%s}`, quoteJSON(text)), m)
}

// In a body $N stands for a name of its own as a JSON string, $T for the same without
// quotes, $C for a category that the target accepts, and $(x*9) for xxxxxxxxx. Python makes a
// body with the last: it may be too long for a shell, or have a NUL, as no argument has.
var repeats = regexp.MustCompile(`\$\((.+?)\*(\d+)\)`)

// fill returns the body of a row, and a Python expression with it if Python makes it.
func (s *sender) fill(body string) (filled, python string) { return s.fillWith(s.name(), body) }

// fillWith is fill with that name.
func (s *sender) fillWith(name, body string) (filled, python string) {
	body = strings.NewReplacer("$N", quoteJSON(name), "$T", name, "$C", fmt.Sprint(s.category)).Replace(body)
	var parts []string
	add := func(text string) {
		filled += text
		if text != "" {
			parts = append(parts, strconv.Quote(text))
		}
	}
	end := 0
	for _, m := range repeats.FindAllStringSubmatchIndex(body, -1) {
		text := body[m[2]:m[3]]
		n, _ := strconv.Atoi(body[m[4]:m[5]])
		add(body[end:m[0]])
		filled += strings.Repeat(text, n)
		parts = append(parts, fmt.Sprintf("%q*%d", text, n))
		end = m[1]
	}
	if end == 0 {
		return body, ""
	}
	add(body[end:])
	return filled, strings.Join(parts, "+")
}

// row is a body and what it is in words.
type row struct{ what, body string }

// wrongs are bodies that must get 400 by a check.
type wrongs struct {
	check string
	rows  []row
}

// wrongPets are bodies of POST /pets with one thing wrong.
var wrongPets = []wrongs{
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
		{"200 KiB and no categoryId", `{"name":"$(big *51200)"}`}, {"1 MiB and no categoryId", `{"name":"$(large *174763)"}`},
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
	{"pets.create.400.duplicate", []row{{"the member name twice", `{"name":$N,"categoryId":$C,"name":"another"}`}}},
	{"pets.create.400.utf8", []row{{"bytes that are not UTF-8", "{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}"}}},
}

// wrongMessages are bodies of POST /messages with one thing wrong.
var wrongMessages = []wrongs{
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
		{"200 KiB and no message", `{"text":"$(big *51200)"}`}, {"quotes in a member and no message", `{"a\"b\\c":1}`},
		{"null for the message", `{"message":null}`}, {"a number for the message", `{"message":42}`}, {"a boolean for the message", `{"message":true}`},
		{"an array for the message", `{"message":[$N]}`}, {"an object for the message", `{"message":{"text":$N}}`},
	}},
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
	means    string // the pet in plain JSON, or the text
	arguable string // see meaning
	free     bool   // see meaning
}

// petForms are ways to write a pet. A target must understand them or may refuse them, but
// not take the pet for another.
var petForms = []form{
	{row{"white space between its tokens", "\n{\r\n\t\"name\" : $N ,\n  \"categoryId\" : $C ,\n\t\"status\":\"sold\"\n}\n\n"}, `{"name":$N,"categoryId":$C,"status":"sold"}`, "", false},
	{row{"its members in another order", `{"status":"sold","categoryId":$C,"name":$N}`}, `{"name":$N,"categoryId":$C,"status":"sold"}`, "", false},
	{row{"9,000 spaces before the object", `$( *9000){"name":$N,"categoryId":$C}`}, `{"name":$N,"categoryId":$C}`, "", false}, // more than one packet
	{row{"escapes for letters", `{"n\u0061me":$N,"categoryId":$C,"status":"s\u006Fld"}`}, `{"name":$N,"categoryId":$C,"status":"sold"}`, "", false},
	{row{"escapes for an emoji", `{"name":"$T \ud83e\udd8a \u732b","categoryId":$C}`}, `{"name":"$T 🦊 猫","categoryId":$C}`, "pets.create.name.accepted", false},
	{row{"the id of another pet", `{"id":$I,"name":$N,"categoryId":$C,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, "", true},
	{row{"further members", `{"owner":{"name":"Bob","categoryId":1,"status":"sold"},"tags":[{"name":"x"}],"name":$N,"categoryId":$C,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, "", true},
	{row{"members that differ in case", `{"name":$N,"categoryId":$C,"status":"pending","Name":"Bob","CATEGORYID":1,"Status":"sold"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, "", true},
	{row{"a further member nested 2000 deep", `{"name":$N,"categoryId":$C,"more":$([*2000)$(]*2000)}`}, `{"name":$N,"categoryId":$C}`, "", true},
	{row{"a further member nested 6000 deep", `{"name":$N,"categoryId":$C,"more":$([*6000)$(]*6000)}`}, `{"name":$N,"categoryId":$C}`, "", true},
	{row{"a fraction of zero in the categoryId", `{"name":$N,"categoryId":$C.0,"status":"pending"}`}, `{"name":$N,"categoryId":$C,"status":"pending"}`, "", true},
	{row{"1e2 for the categoryId", `{"name":$N,"categoryId":1e2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, "", true},
	{row{"1E+2 for the categoryId", `{"name":$N,"categoryId":1E+2,"status":"pending"}`}, `{"name":$N,"categoryId":100,"status":"pending"}`, "", true},
	{row{"-0 for the categoryId", `{"name":$N,"categoryId":-0,"status":"pending"}`}, `{"name":$N,"categoryId":0,"status":"pending"}`, "", true},
}

var messageForms = []form{
	{row{"white space between its tokens", " {\n\t\"message\" : $N }\n"}, "$T", "", false},
	{row{"escapes for letters", `{"m\u0065ssage":$N}`}, "$T", "", false},
	{row{"escapes for emoji", `{"message":"$T \ud83e\udd8a \uD83D\uDC36"}`}, "$T 🦊 🐶", "messages.text.accepted", false},
	{row{"further members", `{"text":"another","message":$N,"Message":"another"}`}, "$T", "", true},
	{row{"a status", `{"message":$N,"status":"delivered"}`}, "$T", "", true},
	{row{"a further member nested 2000 deep", `{"message":$N,"more":$([*2000)$(]*2000)}`}, "$T", "", true},
	{row{"a further member nested 6000 deep", `{"message":$N,"more":$([*6000)$(]*6000)}`}, "$T", "", true},
}

// contentTypes are ways to write application/json.
var contentTypes = []string{"application/json; charset=utf-8", "Application/JSON"}

// badQueries are queries of GET /pets of which the contract does not say what they
// mean.
var badQueries = []string{
	"limit=0", "limit=-1", "limit=101", "limit=1000", "limit=9223372036854775808", "limit=1e1", "limit=abc", "limit=", "limit=%22", "limit=1&limit=2",
	"status=lost", "status=", "status=AVAILABLE", "status=a%22b", "status=a%5Cc", "status=%00", "status=%FF", "status='", "status=sold&status=pending",
	"status=" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"limit%5B%5D=1", "status%5B%5D=sold", "%zz", "=", "cursor=x", "offset=-1", "page=-1", "color=red",
}

// missingIDs are ids that hardly a pet has.
var missingIDs = []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}

// notIDs are not ids. $I stands for the id of a pet.
var notIDs = []string{
	"9223372036854775808", "-9223372036854775809", "10000000000000000000000000000000000000000",
	"0x$I", "$I%00", "$Iabc", "$I.5", "$I%27", "$I%20or%20so", "$I,$I", "$I-1", "abc$I", "id=$I", "$I/",
	"abc", "null", "undefined", "NaN", "-", "%00", "%FF", "%22", "%25", "%F0%9F%A6%8A", "1e9",
}

// categories are those that a target may get wrong.
var categories = []int64{1<<53 + 1, 1<<63 - 1, -1 << 63, -(1<<53 + 1), 0, 1 << 31, 1, -1}

// Names of pets, and texts of messages, that a target may change or refuse by mistake. $M
// stands for the mark of the run. With it the text has at most 20 characters.
var (
	// words are values of other types, and words of programming languages. They have no
	// mark, so an earlier run may have sent them.
	words = []string{
		"null", "Null", "true", "false", "undefined", "NaN", "no", "__proto__", "constructor", "toString",
		"7", "0", "4711", "0042", "12345678901234567890", "1e3", "1.10", "2024-02-29", "2024-02-29T12:00:00Z",
		`{"name":"Rex"}`, `"Rex"`, "[object]",
	}
	texts = []string{
		"Old  Yell   a $M", "McDoGgLe ÄÖ $M", "ß İ ı ø ł $M", `"R" 'the' $M`, `\ / \n \u41 $M`,
		"<b>Tom</b> $M", "&amp; <i> %s $M", "{{y}} ${name} $M", "100%25 %41 $M", "cat+dog%20 $M", "=?&#; &lt; $M",
		"<script>a $M", "A OR 1=1 -- $M", "a // b /* $M", "c */ # d -- $M", "$& $1 $$ x $M", "{0} #{n} %d $M", "%@ :name ? $M",
		"“Rex” ‘n’ „ $M", "Tom – — … • $M", "a ™ € «» $M", "Žluťoučký $M", "猫 龍 שלום $M", "مرحبا नम $M",
		"e\u0301 é \u212b A\u030a $M", "ﬁ 한 \u1112\u1161\u11ab $M", "🦊 𝕏 a 𠮷 $M", "a 👩\u200d👩\u200d👧 $M", "the\u00a0dog $M", "I ❤\ufe0f dogs $M",
		"$M " + `C:\new\`,
	}
	// freeTexts are those that a target may refuse: they are empty or long, or have spaces at
	// an end, no letters, or characters that cannot be seen.
	freeTexts = []string{
		"", "$M\n", " $M ", "  $M \u00a0 ", "👩\u200d👩\u200d👧🏽", "a\x00b $M", "a\tb $M", "a\nb\r\nc $M", "d\x01\x1b\x7f\u0085\u2028 $M",
		"\u202eabc\u202c \u200f $M", "\u00ad\u200b\u2060. $M", "\ufeff$M", "\ufffe\uffff \U0010ffff \ue000 \ufffd $M",
		"$H $M", // 300 characters
		"$K $M", // 2,000 characters
		"$3 $M", // 6,000 characters of three bytes: one is at the end of each buffer
	}
)

// fillText returns a text of the tables.
func (f facts) fillText(text string) string {
	return strings.NewReplacer("$M", f.mark[len(markStart):], "$H", strings.Repeat("abcdefghi ", 30), "$K", strings.Repeat("Ünïcorn 🦄 ", 200), "$3", strings.Repeat("猫", 6000)).Replace(text)
}

// habits are the header fields that some clients send instead of the usual ones. An empty
// value is no such field.
var habits = []map[string]string{
	{"Accept": "", "Accept-Encoding": "", "User-Agent": ""},
	{"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"},
	{"Accept": "*/*", "Accept-Encoding": "gzip"},
	{"Connection": "close"},
}

// plus returns id + sign·2^bits in decimal digits.
func plus(id, sign int64, bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(sign), bits)
	return n.Add(n, big.NewInt(id)).String()
}
