package wire

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestInt64(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		err  string // part of the error; "": none
	}{
		{text: "-0"},
		{text: "9223372036854775807", want: 1<<63 - 1},
		{text: "-9223372036854775808", want: -1 << 63},
		{text: "9007199254740993", want: 1<<53 + 1},
		{text: "1.0", want: 1}, {text: "4e2", want: 400}, {text: "4.0E+2", want: 400}, {text: "100e-2", want: 1},
		{text: "9223372036854775808", err: "does not fit"},
		{text: "-9223372036854775809", err: "does not fit"},
		{text: "1.5", err: "not an integer"},
		{text: "1e999999999999", err: "not an integer"},
		{text: "1e-999999999999", err: "not an integer"},
		{text: "1." + strings.Repeat("0", 2000), want: 1},
		{text: `"7"`, err: `is "7", not an integer`},
		{text: "null", err: "is null, not an integer"},
	} {
		got, err := object{"n": jsontext.Value(tt.text)}.int64("n")
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("int64 of %s = %d, %v; want %d, %q", short(tt.text), got, err, tt.want, tt.err)
		}
	}
}

func TestParseJSON(t *testing.T) {
	for text, ok := range map[string]bool{
		`[]`: true, " \r\n\t{} \n": true, `{"a":1,"a":2}`: true, `"\ud800"`: true, `null`: true, "7": true,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{} x`: false, `[][]`: false, "\xef\xbb\xbf[]": false,
		"\"\xff\"": false, `{'a':1}`: false, `NaN`: false, "\v[]": false, "\u00a0[]": false,
	} {
		if _, err := (&Exchange{Body: []byte(text)}).JSON(); (err == nil) != ok {
			t.Errorf("JSON of %q: %v", text, err)
		}
	}
}
