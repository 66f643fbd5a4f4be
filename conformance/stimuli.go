package conformance

import (
	"fmt"
	"math/big"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What a run sends, as tables. A row does not say how the target must respond: judges
// read that from the request. None of the requests does harm if something in it is
// executed.

// In a body $N stands for a name of its own as a JSON string, $T for the same without
// quotes, $C for a category that the target accepts, $S for 9,000 spaces, $B for a text
// of 200 KiB and $L for one of 1 MiB. Many servers have a limit of 100 KiB, and many
// proxies one of 1 MiB.
func (s *sender) fill(body string) string {
	name := s.name()
	body = strings.NewReplacer("$N", quoteJSON(name), "$T", name, "$C", fmt.Sprint(s.category), "$S", strings.Repeat(" ", 9000)).Replace(body)
	if strings.Contains(body, "$B") || strings.Contains(body, "$L") {
		body = strings.NewReplacer("$B", strings.Repeat("big ", 50<<10), "$L", strings.Repeat("large ", 1<<20/6+1)).Replace(body)
	}
	return body
}

// wrongPets are bodies of POST /pets with one thing wrong.
var wrongPets = []string{
	``, " \n",
	`name=$T&categoryId=$C`,
	`{"name":$N,"categoryId":$C`,
	`{"name":$N,"categoryId":$C} x`,
	`{"name":$N,"categoryId":$C}{"name":$N,"categoryId":$C}`,
	`{"name":$N,"categoryId":$C,}`,
	`{'name':'$T','categoryId':$C}`,
	`{name:$N,categoryId:$C}`,
	`{"name":$N,/* a dog */"categoryId":$C}`,
	"{\"name\":\"$T\n\",\"categoryId\":$C}",
	`{"name":"$T \x41","categoryId":$C}`,
	`{"name":$N,"categoryId":NaN}`,
	`{"name":$N,"categoryId":00$C}`,
	`{"name":$N,"categoryId":0x$C}`,
	`"{\"name\":\"$T\",\"categoryId\":$C}"`,
	`null`, `true`, `7`, `$N`, `[]`, `[{"name":$N,"categoryId":$C}]`,

	`{}`, `{"categoryId":$C,"status":"sold"}`, `{"name":$N,"status":"sold"}`,
	`{"pet":{"name":$N,"categoryId":$C}}`,
	`{"Name":$N,"categoryId":$C}`, `{"name":$N,"categoryid":$C}`,
	`{"name":"$B"}`, `{"name":"$L"}`,

	`{"name":null,"categoryId":$C}`, `{"name":42,"categoryId":$C}`, `{"name":true,"categoryId":$C}`,
	`{"name":[$N],"categoryId":$C}`, `{"name":{"first":$N},"categoryId":$C}`,
	`{"name":$N,"categoryId":null}`, `{"name":$N,"categoryId":"$C"}`, `{"name":$N,"categoryId":""}`, `{"name":$N,"categoryId":"dogs"}`,
	`{"name":$N,"categoryId":true}`, `{"name":$N,"categoryId":$C.5}`, `{"name":$N,"categoryId":[$C]}`, `{"name":$N,"categoryId":{"id":$C}}`,
	`{"name":$N,"categoryId":9223372036854775808}`, `{"name":$N,"categoryId":-9223372036854775809}`,
	`{"name":$N,"categoryId":18446744073709551617}`, `{"name":$N,"categoryId":1e30}`, `{"name":$N,"categoryId":1e400}`,
	`{"name":$N,"categoryId":$C,"status":null}`, `{"name":$N,"categoryId":$C,"status":1}`,
	`{"name":$N,"categoryId":$C,"status":true}`, `{"name":$N,"categoryId":$C,"status":false}`,
	`{"name":$N,"categoryId":$C,"status":["sold"]}`, `{"name":$N,"categoryId":$C,"status":{}}`,

	`{"name":$N,"categoryId":$C,"status":"lost"}`, `{"name":$N,"categoryId":$C,"status":"constructor"}`,
	`{"name":$N,"categoryId":$C,"status":"AVAILABLE"}`, `{"name":$N,"categoryId":$C,"status":"sold "}`,
	`{"name":$N,"categoryId":$C,"status":"avail"}`, `{"name":$N,"categoryId":$C,"status":""}`,
	`{"name":$N,"categoryId":$C,"name":"another"}`,
	"{\"name\":\"$T \xff\xfe\",\"categoryId\":$C}",
	// What an error message must escape.
	`{"name":"a\"b\\c"}`, `{"name":$N,"categoryId":"a\"b\\c"}`, `{"name":$N,"categoryId":1,"status":"a\"b\\c"}`,
}

// wrongMessages are bodies of POST /messages with one thing wrong.
var wrongMessages = []string{
	``, " \n", `message=$T`, `{"message":$N`, `{"message":$N} x`, `{"message":$N,}`, `{'message':'$T'}`, `{"message":"$T \x41"}`,
	`null`, `$N`, `[{"message":$N}]`,
	`{}`, `{"Message":$N}`, `{"text":$N}`, `{"text":"$B"}`, `{"a\"b\\c":1}`,
	`{"message":null}`, `{"message":42}`, `{"message":true}`, `{"message":[$N]}`, `{"message":{"text":$N}}`,
	`{"message":$N,"message":"another"}`, "{\"message\":\"$T \xff\xfe\"}", `{"message":"$T \ud83d"}`,
}

// badBodies are bodies that often make servers fail. None is a pet or a message.
func badBodies() []string {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%d":0`, i)
	}
	return []string{
		"\x00", "{", "[", `"`, "-", `{"name":"\ud800`, `{"":""}`,
		`{"categoryId":-1e400}`, `{"categoryId":` + strings.Repeat("9", 500) + `}`,
		`{"__proto__":{"name":"a"},"categoryId":1}`, `{"constructor":null}`,
		strings.Repeat("[", 6000) + strings.Repeat("]", 6000),
		strings.Repeat(`{"name":`, 200) + "1" + strings.Repeat("}", 200),
		`{` + strings.Join(many, ",") + `}`,
	}
}

// badQueries are queries of GET /pets of which the contract does not say what they
// mean.
var badQueries = []string{
	"limit=0", "limit=-1", "limit=101", "limit=1000", "limit=9223372036854775808", "limit=1e1", "limit=abc", "limit=", "limit=%22", "limit=1&limit=2",
	"status=lost", "status=", "status=AVAILABLE", "status=a%22b", "status=a%5Cc", "status=%00", "status=%FF", "status='", "status=sold&status=pending",
	"status=" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"%zz", "=", "cursor=x", "offset=-1", "page=-1", "color=red",
}

// missingIDs are ids that hardly a pet has.
var missingIDs = []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}

// notIDs are not ids. $I stands for the id of a pet.
var notIDs = []string{
	"9223372036854775808", "-9223372036854775809", "10000000000000000000000000000000000000000",
	"$Iabc", "$I.5", "$I%27", "$I%20or%20so", "$I,$I", "$I-1", "abc$I", "id=$I", "$I/",
	"abc", "null", "undefined", "NaN", "-", "%00", "%FF", "%22", "%25", "%F0%9F%A6%8A", "1e9",
}

// petForms are ways to write a valid pet.
var petForms = []string{
	"\n{\r\n\t\"name\" : $N ,\n  \"categoryId\" : $C ,\n\t\"status\":\"sold\"\n}\n\n",
	`{"status":"sold","categoryId":$C,"name":$N}`,
	"$S{\"name\":$N,\"categoryId\":$C}", // more than one packet
	`{"n\u0061me":"$T \ud83e\udd8a \u732b","categoryId":$C,"status":"s\u006Fld"}`,
	// A target may refuse these, but not give the pet the id of another, and not take them for another pet.
	`{"id":$I,"name":$N,"categoryId":$C,"status":"pending"}`,
	`{"owner":{"name":"Bob","categoryId":1,"status":"sold"},"tags":[{"name":"x"}],"name":$N,"categoryId":$C,"status":"pending"}`,
	`{"name":$N,"categoryId":$C,"status":"pending","Name":"Bob","CATEGORYID":1,"Status":"sold"}`,
	`{"name":$N,"categoryId":$C.0,"status":"pending"}`, `{"name":$N,"categoryId":1e2,"status":"pending"}`,
	`{"name":$N,"categoryId":1E+2,"status":"pending"}`, `{"name":$N,"categoryId":-0,"status":"pending"}`,
}

// messageForms are ways to write a valid message.
var messageForms = []string{
	" {\n\t\"message\" : $N }\n", `{"m\u0065ssage":"$T \ud83e\udd8a \uD83D\uDC36"}`,
	`{"text":"another","message":$N,"Message":"another"}`, `{"message":$N,"status":"delivered"}`,
}

// categories are those that a target may get wrong.
var categories = []int64{1<<53 + 1, 1<<63 - 1, -1 << 63, -(1<<53 + 1), 0, 1 << 31, 1, -1}

// texts are names of pets, and texts of messages, that a target may change or refuse by
// mistake.
var texts = []string{
	// Values of other types, and words of programming languages.
	"null", "Null", "true", "false", "undefined", "NaN", "no", "__proto__", "constructor", "toString",
	"7", "0", "4711", "0042", "12345678901234567890", "1e3", "1.10", "2024-02-29", "2024-02-29T12:00:00Z",
	`{"name":"Rex"}`, `"Rex"`, "[object]",

	// $M stands for the mark of the run. With it the text has at most 20 characters.
	"Old  Yell   a $M", "McDoGgLe ÄÖ $M", "ß İ ı ø ł $M", `"R" 'the' $M`, `\ / \n \u41 $M`,
	"<b>Tom</b> $M", "&amp; <i> %s $M", "{{y}} ${name} $M", "100%25 %41 $M", "cat+dog%20 $M", "=?&#; &lt; $M",
	"<script>a $M", "A OR 1=1 -- $M", "a // b /* $M", "c */ # d -- $M", "$& $1 $$ x $M", "{0} #{n} %d $M", "%@ :name ? $M",
	"“Rex” ‘n’ „ $M", "Tom – — … • $M", "a ™ € «» $M", "Žluťoučký $M", "猫 龍 שלום $M", "مرحبا नम $M",
	"e\u0301 é \u212b A\u030a $M", "ﬁ 한 \u1112\u1161\u11ab $M", "🦊 𝕏 a 𠮷 $M", "a 👩\u200d👩\u200d👧 $M", "the\u00a0dog $M",
	"$M " + `C:\new\`,

	// A target may refuse these: they have spaces at an end, no letters, or characters
	// that cannot be seen, or they are long.
	" $M ", "  $M \u00a0 ", "👩\u200d👩\u200d👧🏽", "a\x00b $M", "a\tb $M", "a\nb\r\nc $M", "d\x01\x1b\x7f\u0085\u2028 $M",
	"\u202eabc\u202c \u200f $M", "\u00ad\u200b\u2060. $M", "\ufeff$M", "\ufffe\uffff \U0010ffff \ue000 \ufffd $M",
	"$H $M", // 300 characters
	"$K $M", // 2,000 characters
}

// texts returns the texts.
func (s *sender) texts() []string {
	r := strings.NewReplacer("$M", s.mark[len(markStart):], "$H", strings.Repeat("abcdefghi ", 30), "$K", strings.Repeat("Ünïcorn 🦄 ", 200))
	var all []string
	for _, text := range texts {
		all = append(all, r.Replace(text))
	}
	return all
}

// habit is a way in which some clients write requests.
type habit func(r *probe.Request)

var habits = []habit{
	sets("Accept", "", "Accept-Encoding", "", "User-Agent", ""),
	sets("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"),
	sets("Accept", "*/*", "Accept-Encoding", "gzip"),
	sets("Connection", "close"),
	func(r *probe.Request) { // a list of default header fields
		if r.Body == nil {
			r.ContentType = "application/json"
		}
	},
}

// sets returns a habit that sets header fields: name, value, name, value. An empty value
// removes the field.
func sets(namesAndValues ...string) habit {
	return func(r *probe.Request) {
		for i := 0; i < len(namesAndValues); i += 2 {
			r.Header = append(r.Header, probe.Field{Name: namesAndValues[i], Value: namesAndValues[i+1]})
		}
	}
}

// plus returns id + sign·2^bits in decimal digits.
func plus(id, sign int64, bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(sign), bits)
	return n.Add(n, big.NewInt(id)).String()
}
