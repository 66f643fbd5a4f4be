package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		a := send(t, s.addr, post("/pets", c.send))
		if err := a.check(want{status: 201, body: pet, header: map[string]string{"Location": "pets/" + id}}); err != nil {
			t.Fatalf("%.300q: %v", c.send, err)
		}
		if err := send(t, s.addr, get("/pets/"+id)).check(want{status: 200, body: pet}); err != nil {
			t.Errorf("%.300q read again: %v", c.send, err)
		}
	}
	long := strings.Repeat("🐕\\\"", 100_000)
	a := send(t, s.addr, post("/pets", `{"categoryId":1,"name":"`+strings.ReplaceAll(strings.ReplaceAll(long, `\`, `\\`), `"`, `\"`)+`"}`))
	if err := a.check(want{status: 201}); err != nil {
		t.Fatal(err)
	}
	pets := decodePets(t, "["+a.body+"]")
	if diff := cmp.Diff(long, pets[0].Name); diff != "" {
		t.Errorf("long name (-want +got):\n%.1000s", diff)
	}
}

// TestCreateRefused: every wrong body gets a 400 that says what is wrong and
// where.
func TestCreateRefused(t *testing.T) {
	const (
		unquoted = "must be a name or string in double quotes, a number, true, false or null; got "
		quotes   = "names and strings must be in double quotes, got a single quote"
		comma    = "a comma must be between two members or values"
	)
	s := newServer(t, nil)
	s.add("rex")
	var cases []rawCase
	for body, says := range map[string]string{
		// Not an object.
		"":                 "body: is missing",
		" \r\n\t":          "body: is missing",
		"null":             "body: must be a JSON object, not null",
		"true":             "not a boolean",
		"false":            "not a boolean",
		"1":                "not a number",
		`"name"`:           "not a string",
		"[]":               "not an array",
		`[{"name":"a"}]`:   "not an array",
		"name=rex":         "body: not valid JSON at byte 0: " + unquoted + "name",
		"\xef\xbb\xbf{}":   "body: not valid JSON at byte 0", // a byte order mark
		"\x00":             "body: not valid JSON at byte 0",
		"}":                "body: not valid JSON at byte 0",
		"\xff\xfe{\x00}":   "body: not valid JSON at byte 0",
		"<pet/>":           "body: not valid JSON at byte 0",
		"// note\n{}":      "body: not valid JSON at byte 0: comments are not allowed",
		"{\"na\x00me\":1}": "body: not valid JSON at byte 4",

		// Not JSON.
		"{":                                          "byte 1",
		`{"name`:                                     "byte 6: the body ends too early",
		`{"name"`:                                    "byte 7",
		`{"name":`:                                   "byte 8",
		`{"name":"rex`:                               "byte 12",
		`{"name":"rex"`:                              "byte 13",
		`{"name":"rex","categoryId":1`:               "byte 28: the body ends too early",
		`{"name":"rex","categoryId":1]`:              "byte 28",
		`{"name":"rex","categoryId":1,}`:             "byte 28: " + comma,
		`{,"name":"rex","categoryId":1}`:             "byte 1: " + comma,
		`{"name":"rex" "categoryId":1}`:              "byte 14",
		`{"name":"rex",,"categoryId":1}`:             "byte 14: " + comma,
		`{"name" "rex","categoryId":1}`:              "byte 8",
		`{name:"rex","categoryId":1}`:                "byte 1: " + unquoted + "name",
		`{'name':'rex','categoryId':1}`:              "byte 1: " + quotes,
		`{"name":'rex',"categoryId":1}`:              `byte 8 (in "/name"): ` + quotes,
		`{1:"rex"}`:                                  "byte 1",
		`{null:1}`:                                   "byte 1",
		`{"name":"rex","categoryId":01}`:             "byte 27: " + unquoted + "01",
		`{"name":"rex","categoryId":+1}`:             `byte 27 (in "/categoryId"): ` + unquoted + "+1",
		`{"name":"rex","categoryId":.5}`:             "/categoryId",
		`{"name":"rex","categoryId":1.}`:             "/categoryId",
		`{"name":"rex","categoryId":1e}`:             "/categoryId",
		`{"name":"rex","categoryId":-}`:              "/categoryId",
		`{"name":"rex","categoryId":0x1}`:            "byte 27: " + unquoted + "0x1",
		`{"name":"rex","categoryId":NaN}`:            `byte 27 (in "/categoryId"): ` + unquoted + "NaN",
		`{"name":"rex","categoryId":Infinity}`:       unquoted + "Infinity",
		`{"name":"rex","categoryId":1n}`:             "byte 27: " + unquoted + "1n",
		`{"name":"rex","categoryId":tru}`:            "/categoryId",
		`{"name":rex,"categoryId":1}`:                `byte 8 (in "/name"): ` + unquoted + "rex",
		"{\"name\":\"a\nb\",\"categoryId\":1}":       "/name",
		"{\"name\":\"a\tb\",\"categoryId\":1}":       "/name",
		`{"name":"\x41","categoryId":1}`:             "/name",
		`{"name":"\u12","categoryId":1}`:             "/name",
		`{"name":"\u{41}","categoryId":1}`:           "/name",
		`{"name":"a","categoryId":1,/**/}`:           "byte 27: comments are not allowed",
		`{"name":"rex","categoryId":-Infinity}`:      `byte 27 (in "/categoryId"): ` + unquoted + "-Infinity",
		`{"name":"rex" /* c */}`:                     "byte 14: comments are not allowed",
		"{\"name\":\"rex\", // c\n\"categoryId\":1}": "byte 15: comments are not allowed",
		`{"name":None}`:                              unquoted + "None",
		`{"name":` + strings.Repeat("x", 200) + `}`:  unquoted + strings.Repeat("x", 40),
		`{"name":["rex", ]}`:                         comma,
		`{"x":{"y":1,}}`:                             comma,
		`{"name":"it's // fine, a`:                   "the body ends too early",
		`{"x":[1,2,"name":"a"}`:                      "byte",
		`{"x":[1,2`:                                  "byte",
		`{"x":{"y":tru},"name":"a"}`:                 `"/x/y"`,
		`{"x":` + strings.Repeat("[", 10_001):        "depth",
		`{"x":` + strings.Repeat("[", 500_000):       "depth",

		// Not UTF-8, or not Unicode.
		"{\"name\":\"\xff\",\"categoryId\":1}":             "UTF-8",
		"{\"name\":\"\xc0\xaf\",\"categoryId\":1}":         "UTF-8", // overlong
		"{\"name\":\"\xed\xa0\x80\",\"categoryId\":1}":     "UTF-8", // a surrogate
		"{\"name\":\"\xe6\x97\",\"categoryId\":1}":         "UTF-8", // cut short
		"{\"x\xff\":1,\"name\":\"a\",\"categoryId\":1}":    "UTF-8",
		"{\"x\":\"\xff\",\"name\":\"a\",\"categoryId\":1}": "UTF-8",
		`{"name":"\ud800","categoryId":1}`:                 "surrogate",
		`{"name":"\udc15\ud83d","categoryId":1}`:           "surrogate",
		`{"name":"\ud83dx","categoryId":1}`:                "surrogate",
		`{"x":{"\ud800":1},"name":"a"}`:                    "surrogate",

		// More than one value.
		`{"name":"a","categoryId":1}{}`:                       "ends at byte 27",
		`{"name":"a","categoryId":1} x`:                       "ends at byte 27",
		`{"name":"a","categoryId":1}}`:                        "ends at byte 27",
		`{"name":"a","categoryId":1},`:                        "ends at byte 27",
		`{"name":"a","categoryId":1}null`:                     "ends at byte 27",
		"{\"name\":\"a\",\"categoryId\":1}\x00":               "ends at byte 27",
		"{\"name\":\"a\",\"categoryId\":1}\n{\"name\":\"b\"}": "ends at byte 27",
		"{\"name\":\"a\",\"categoryId\":1} \xff":              "ends at byte 27",

		// Names given twice.
		`{"name":"a","name":"a","categoryId":1}`:                                            `"/name"`,
		`{"name":"a","\u006eame":"b","categoryId":1}`:                                       `"/name"`,
		`{"name":"a","categoryId":1,"categoryId":2}`:                                        `"/categoryId"`,
		`{"name":"a","categoryId":1,"status":"sold","status":"sold"}`:                       `"/status"`,
		`{"x":1,"x":1,"name":"a","categoryId":1}`:                                           `"/x"`,
		`{"x":{"y":1,"y":1},"name":"a","categoryId":1}`:                                     `"/x/y"`,
		`{"x":1,"name":"a","categoryId":1,"x":1}`:                                           `"/x"`,
		`{"` + strings.Repeat("n", 90_000) + `":1,"` + strings.Repeat("n", 90_000) + `":1}`: "duplicate",

		// Members missing.
		`{}`:                                  "name: is missing",
		`{"name":"a"}`:                        "categoryId: is missing",
		`{"categoryId":1}`:                    "name: is missing",
		`{"status":"sold"}`:                   "name: is missing",
		`{"Name":"a","categoryId":1}`:         "name: is missing",
		`{"name":"a","CategoryId":1}`:         "categoryId: is missing",
		`{"name":"a","categoryID":1}`:         "categoryId: is missing",
		`{"name":"a","category_id":1}`:        "categoryId: is missing",
		`{"pet":{"name":"a","categoryId":1}}`: "name: is missing",
		`{"name\u0000":"a","categoryId":1}`:   "name: is missing",
	} {
		cases = append(cases, rawCase{body, post("/pets", body), bad(says)})
	}
	s.run(cases)
}

// TestCreateWrongMembers puts every wrong value in the place of each member.
func TestCreateWrongMembers(t *testing.T) {
	s := newServer(t, nil)
	const (
		aString  = "must be a string, not "
		anInt    = "must be an integer, not "
		whole    = "must be an integer, written without fraction or exponent"
		inRange  = "must be an integer from -9223372036854775808 to 9223372036854775807"
		statuses = "must be one of available, pending, sold"
	)
	good := map[string]string{"name": `"a"`, "categoryId": "1", "status": `"sold"`}
	wrong := map[string]map[string]string{
		"name": {
			"null": aString + "null", "true": aString + "a boolean", "1": aString + "a number",
			"{}": aString + "an object", `["a"]`: aString + "an array",
		},
		"categoryId": {
			"null": anInt + "null", "false": anInt + "a boolean", `"1"`: anInt + "a string", `""`: anInt + "a string",
			"{}": anInt + "an object", "[1]": anInt + "an array",
			"1.0": whole, "1e2": whole, "1E2": whole, "-0.0": whole, "0e0": whole, "1.5": whole, "1e-1": whole,
			"10e-1": whole, "1e999999999": whole,
			"9223372036854775808": inRange, "-9223372036854775809": inRange, "18446744073709551617": inRange,
			"1" + strings.Repeat("0", 100_000): inRange,
		},
		"status": {
			"null": aString + "null", "true": aString + "a boolean", "0": aString + "a number",
			"{}": aString + "an object", `["sold"]`: aString + "an array",
			`""`: statuses, `"Sold"`: statuses, `"SOLD"`: statuses, `" sold"`: statuses, `"sold "`: statuses,
			`"gone"`: statuses, `"sold\u0000"`: statuses, `"null"`: statuses,
		},
	}
	var cases []rawCase
	for member, values := range wrong {
		for value, says := range values {
			body := "{"
			for _, name := range []string{"name", "categoryId", "status"} {
				if name == member {
					body += `"` + name + `":` + value + ","
				} else {
					body += `"` + name + `":` + good[name] + ","
				}
			}
			body = strings.TrimSuffix(body, ",") + "}"
			cases = append(cases, rawCase{member + " " + value[:min(len(value), 40)], post("/pets", body), bad(member + ": " + says)})
		}
	}
	s.run(cases)
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
		a := send(t, s.addr, post("/pets", body))
		if err := a.check(bad("")); err != nil || len(a.body) > 400 {
			t.Errorf("%.100q: %v, a response of %d bytes", body, err, len(a.body))
		}
	}
}
