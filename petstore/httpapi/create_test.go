package httpapi_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

// TestCreate: what the contract's schema accepts is accepted and returned
// unchanged.
func TestCreate(t *testing.T) {
	s := newServer(t, nil)
	bodies := []struct{ send, want string }{ // want is what follows the id
		{`{"name":"rex","categoryId":1}`, `"name":"rex","categoryId":1`},
		{`{"categoryId":1,"name":"rex"}`, `"name":"rex","categoryId":1`},
		{`{"name":"rex","categoryId":1,"status":"available"}`, `"name":"rex","categoryId":1,"status":"available"`},
		{`{"status":"pending","name":"rex","categoryId":1}`, `"name":"rex","categoryId":1,"status":"pending"`},
		{`{"name":"rex","categoryId":1,"status":"\u0073old"}`, `"name":"rex","categoryId":1,"status":"sold"`},
		{" \t\r\n{ \"name\" : \"rex\" , \"categoryId\" : 1 } \r\n", `"name":"rex","categoryId":1`},
		{`{"\u006eame":"rex","categoryId":1}`, `"name":"rex","categoryId":1`},

		// Names are any strings.
		{`{"name":"","categoryId":1}`, `"name":"","categoryId":1`},
		{`{"name":" rex ","categoryId":1}`, `"name":" rex ","categoryId":1`},
		{`{"name":"<b>&amp;\/","categoryId":1}`, `"name":"<b>&amp;/","categoryId":1`},
		{`{"name":"\"\\\u0000\u001f\u007f\n","categoryId":1}`, `"name":"\"\\\u0000\u001f` + "\u007f" + `\n","categoryId":1`},
		{`{"name":"日本\ud83d\udc15\u2028","categoryId":1}`, "\"name\":\"日本🐕\u2028\",\"categoryId\":1"},
		{`{"name":"e\u0301","categoryId":1}`, "\"name\":\"e\u0301\",\"categoryId\":1"},
		{`{"name":"null","categoryId":1}`, `"name":"null","categoryId":1`},

		// Categories are any int64, kept exactly.
		{`{"name":"c","categoryId":0}`, `"name":"c","categoryId":0`},
		{`{"name":"c","categoryId":-0}`, `"name":"c","categoryId":0`},
		{`{"name":"c","categoryId":-7}`, `"name":"c","categoryId":-7`},
		{`{"name":"c","categoryId":9007199254740993}`, `"name":"c","categoryId":9007199254740993`},
		{`{"name":"c","categoryId":9223372036854775807}`, `"name":"c","categoryId":9223372036854775807`},
		{`{"name":"c","categoryId":-9223372036854775808}`, `"name":"c","categoryId":-9223372036854775808`},

		// Unknown members are ignored, with any value.
		{`{"id":99,"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"id":"x","name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"Name":5,"NAME":null,"name":"u","categoryId":1,"categoryid":"x","Status":"x"}`, `"name":"u","categoryId":1`},
		{`{"":null,"name ":1,"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"x":{"name":5,"a":[{},[],null,true,1.5e300,"y"]},"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"x":1e999999,"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
		{`{"x":` + strings.Repeat(`{"x":`, 9000) + "0" + strings.Repeat("}", 9000) + `,"name":"u","categoryId":1}`, `"name":"u","categoryId":1`},
	}
	for i, c := range bodies {
		id := strconv.Itoa(i + 1)
		pet := `{"id":` + id + `,` + c.want + `}`
		s.want(want{status: 201, body: pet}.with("Location", "pets/"+id), post("/pets", c.send))
		s.want(want{status: 200, body: pet}, get("/pets/"+id))
	}
	long := petstore.Pet{ID: int64(len(bodies)) + 1, NewPet: petstore.NewPet{Name: strings.Repeat("🐕\\\"", 100_000)}}
	pet, err := long.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.want(want{status: 201, body: string(pet)}, post("/pets", string(pet)))
}

// TestCreateRefused: every wrong body gets a 400 that says what is wrong and
// where.
func TestCreateRefused(t *testing.T) {
	const (
		unquoted = "must be a name or string in double quotes, a number, true, false or null; got "
		quotes   = "names and strings must be in double quotes, got a single quote"
		comma    = "a comma must be between two members or values"
		comments = "comments are not allowed"
		inName   = `byte 8 (in "/name"): `
		inID     = `byte 27 (in "/categoryId"): `
	)
	s := newServer(t, nil)
	// The percent signs in body and says stand for each of the values.
	refuse := func(body, says string, values ...string) {
		t.Helper()
		for _, v := range values {
			s.want(bad(strings.ReplaceAll(says, "%", v)), post("/pets", strings.ReplaceAll(body, "%", v)))
		}
	}

	// Not an object.
	refuse("%", "body: is missing", "", " \r\n\t")
	refuse("%", "body: must be a JSON object, not %", "null")
	refuse("%", "body: must be a JSON object, not a boolean", "true", "false")
	refuse("%", "body: must be a JSON object, not a number", "1")
	refuse("%", "body: must be a JSON object, not a string", `"name"`)
	refuse("%", "body: must be a JSON object, not an array", "[]", `[{"name":"a"}]`)
	refuse("%=rex", "body: not valid JSON at byte 0: "+unquoted+"%", "name")
	refuse("%", "body: not valid JSON at byte 0", "\xef\xbb\xbf{}", "\x00", "}", "\xff\xfe{\x00}", "<pet/>")
	refuse("// note\n{}", "body: not valid JSON at byte 0: "+comments, "")

	// Not JSON.
	const whole = `{"name":"rex","categoryId":1`
	for n := 1; n <= len(whole); n++ {
		refuse("%", fmt.Sprintf("body: not valid JSON at byte %d", n), whole[:n])
	}
	refuse("%", "the body ends too early", `{"name`, whole, `{"name":"it's // fine, a`, `{"x":[1,2`)
	refuse(whole+"%", "byte 28", "]", ",}")
	refuse("{%}", "byte 1: "+comma, `,"name":"rex"`)
	refuse("{%:1}", "byte 1", "1", "null")
	refuse("{%:1}", "byte 1: "+unquoted+"%", "name")
	refuse("{%:1}", "byte 1: "+quotes, "'name'")
	refuse("{\"na%me\":1}", "body: not valid JSON at byte 4", "\x00")
	refuse(`{"name"%"rex"}`, "byte 8", " ")
	refuse(`{"name":"rex"%"categoryId":1}`, "byte 14", " ", ",,")
	refuse(`{"name":"rex"%}`, comma, ",", `,,"categoryId":1`, `,"x":["rex", ]`, `,"x":{"y":1,}`)
	refuse(`{"name":%,"categoryId":1}`, inName+unquoted+"%", "rex", "None")
	refuse(`{"name":%}`, inName+unquoted+strings.Repeat("x", 40), strings.Repeat("x", 200))
	refuse(`{"name":%,"categoryId":1}`, inName+quotes, "'rex'")
	refuse(`{"name":%,"categoryId":1}`, "/name", "\"a\nb\"", "\"a\tb\"", `"\x41"`, `"\u12"`, `"\u{41}"`)
	refuse(`{"name":"rex","categoryId":%}`, "byte 27: "+unquoted+"%", "01", "0x1", "1n")
	refuse(`{"name":"rex","categoryId":%}`, inID+unquoted+"%", "+1", "NaN", "Infinity", "-Infinity")
	refuse(`{"name":"rex","categoryId":%}`, "/categoryId", ".5", "1.", "1e", "-", "tru")
	refuse(`{"name":"rex" %}`, "byte 14: "+comments, "/* c */", "// c\n,\"categoryId\":1")
	refuse(`{"name":"a","categoryId":1,%}`, "byte 27: "+comments, "/**/")
	refuse(`{"x":%,"name":"a"}`, `"/x/y"`, `{"y":tru}`)
	refuse(`{"x":%,"name":"a"}`, "byte", `[1,2,"name":"a"`)
	refuse(`{"x":%`, "depth", strings.Repeat("[", 10_001), strings.Repeat("[", 500_000))

	// Not UTF-8 (overlong, a surrogate, cut short), or not Unicode.
	refuse(`{"name":"%","categoryId":1}`, "UTF-8", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe6\x97")
	refuse(`{"x%":1,"name":"a","categoryId":1}`, "UTF-8", "\xff")
	refuse(`{"x":"%","name":"a","categoryId":1}`, "UTF-8", "\xff")
	refuse(`{"name":"%","categoryId":1}`, "surrogate", `\ud800`, `\udc15\ud83d`, `\ud83dx`)
	refuse(`{"x":{"%":1},"name":"a"}`, "surrogate", `\ud800`)

	// More than one value.
	refuse(`{"name":"a","categoryId":1}%`, "ends at byte 27", "{}", " x", "}", ",", "null", "\x00", "\n{\"name\":\"b\"}", " \xff")

	// Names given twice.
	refuse(`{"name":"a","categoryId":1,"status":"sold","%":"sold"}`, `"/%"`, "name", "categoryId", "status")
	refuse(`{"name":"a","\u006eame":"b","categoryId":1}`, `"/name"`, "")
	refuse(`{%,"name":"a","categoryId":1}`, `"/x"`, `"x":1,"x":1`)
	refuse(`{%,"name":"a","categoryId":1}`, `"/x/y"`, `"x":{"y":1,"y":1}`)
	refuse(`{"x":1,"name":"a","categoryId":1,"x":1}`, `"/x"`, "")
	refuse(`{"%":1,"%":1}`, "duplicate", strings.Repeat("n", 90_000))

	// Members missing.
	refuse("{%}", "name: is missing", "", `"categoryId":1`, `"status":"sold"`,
		`"Name":"a","categoryId":1`, `"name\u0000":"a","categoryId":1`, `"pet":{"name":"a","categoryId":1}`)
	refuse(`{"name":"a"%}`, "categoryId: is missing", "", `,"CategoryId":1`, `,"categoryID":1`, `,"category_id":1`)

	// Wrong values of members.
	for _, kind := range []struct{ name, value string }{
		{"null", "null"}, {"a boolean", "true"}, {"a boolean", "false"}, {"an object", "{}"}, {"an array", `["sold"]`},
	} {
		refuse(`{"name":%,"categoryId":1}`, "name: must be a string, not "+kind.name, kind.value)
		refuse(`{"name":"a","categoryId":%}`, "categoryId: must be an integer, not "+kind.name, kind.value)
		refuse(`{"name":"a","categoryId":1,"status":%}`, "status: must be a string, not "+kind.name, kind.value)
	}
	refuse(`{"name":%,"categoryId":1}`, "name: must be a string, not a number", "1")
	refuse(`{"name":"a","categoryId":%}`, "categoryId: must be an integer, not a string", `"1"`, `""`)
	refuse(`{"name":"a","categoryId":%}`, "categoryId: must be an integer, written without fraction or exponent",
		"1.0", "1e2", "1E2", "-0.0", "0e0", "1.5", "1e-1", "10e-1", "1e999999999")
	refuse(`{"name":"a","categoryId":%}`, "categoryId: must be an integer from -9223372036854775808 to 9223372036854775807",
		"9223372036854775808", "-9223372036854775809", "18446744073709551617", "1"+strings.Repeat("0", 100_000))
	refuse(`{"name":"a","categoryId":1,"status":%}`, "status: must be a string, not a number", "0")
	refuse(`{"name":"a","categoryId":1,"status":"%"}`, "status: must be one of available, pending, sold",
		"", "Sold", "SOLD", " sold", "sold ", "gone", `sold\u0000`, "null")
}

// TestLongNames: an error never repeats much of a request.
func TestLongNames(t *testing.T) {
	s := newServer(t, nil)
	name := `"` + strings.Repeat("n", 300_000) + `"`
	for _, body := range []string{
		`{` + name + `:1,` + name + `:1}`,
		`{` + name + `:{"x":tru}}`,
		`{` + name + `:"\ud800"}`,
		`{"status":` + name + `}`,
		`{"x":` + strings.Repeat(`{"`+strings.Repeat("~", 50)+`":`, 9000) + `?`,
	} {
		if r := send(t, s.addr, post("/pets", body)); r.Status != 400 || len(r.Body) > 400 {
			t.Errorf("%.100q: status %d, a response of %d bytes", body, r.Status, len(r.Body))
		}
	}
}
