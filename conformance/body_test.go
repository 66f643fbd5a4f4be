package conformance

import (
	"os"
	"os/exec"
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
		{text: "0"}, {text: "-0"}, {text: "7", want: 7},
		{text: "9223372036854775807", want: 1<<63 - 1},
		{text: "-9223372036854775808", want: -1 << 63},
		{text: "9007199254740993", want: 1<<53 + 1},
		{text: "1.0", want: 1}, {text: "4e2", want: 400}, {text: "4.0E+2", want: 400}, {text: "100e-2", want: 1},
		{text: "9223372036854775808", err: "does not fit"},
		{text: "-9223372036854775809", err: "does not fit"},
		{text: "1e30", err: "does not fit"},
		{text: "1.5", err: "not an integer"},
		{text: "1e-1", err: "not an integer"},
		{text: "1e999999999", err: "not an integer"},
		{text: "1e999999999999", err: "not an integer"},
		{text: "1e-999999999999", err: "not an integer"},
		{text: "1." + strings.Repeat("0", 2000), want: 1},
		{text: `"7"`, err: `is "7", not an integer`},
		{text: "null", err: "is null, not an integer"},
		{text: "[7]", err: "is [7], not an integer"},
	} {
		got, err := object{"n": jsontext.Value(tt.text)}.int64("n")
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("readInt64(%s) = %d, %v; want %d, %q", short(tt.text), got, err, tt.want, tt.err)
		}
	}
}

func TestParseJSON(t *testing.T) {
	for text, ok := range map[string]bool{
		`[]`: true, " \r\n\t{} \n": true, `{"a":1,"a":2}`: true, `"\ud800"`: true, `null`: true, "7": true,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{} x`: false, `[][]`: false, "\xef\xbb\xbf[]": false,
		"\"\xff\"": false, `{'a':1}`: false, `NaN`: false, "\v[]": false, "\u00a0[]": false,
	} {
		if _, err := (&exchange{body: []byte(text)}).json(); (err == nil) != ok {
			t.Errorf("parseJSON(%q): %v", text, err)
		}
	}
}

const aKey = "petstore_zw3eackaijyksx4mvj2nwlomzp2n57vpzsvix4kp6n3n2yt2lhvsroxg"

// What a target echoes of a credential, as it was sent, is replaced.
func TestRedact(t *testing.T) {
	const key = "s3cr-et/K3y-0123456789"
	r := newRedactor(key)
	for _, c := range append(badCredentials(key), validKey, lowerScheme) {
		if c.value != nil && strings.Contains(r.Replace("got "+c.value(key)), "K3y") {
			t.Errorf("%s is shown as %q", c.what, r.Replace(c.value(key)))
		}
	}
	for text, want := range map[string]string{
		`{"got":"s3cr-et\/K3y-0123456789"}`: `{"got":"[key]"}`,
		"?key=s3cr-et%2FK3y-0123456789":     "?key=[key]",
	} {
		if got := r.Replace(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := newRedactor("pet").Replace("a pet"); got != "a pet" {
		t.Errorf("a word that is a short key is shown as %q", got)
	}
}

// A curl command sends the same credential as the run.
func TestShell(t *testing.T) {
	for _, key := range []string{aKey, "abcdefghij", "bcdefghijKLM", "~bcdefg~hijKL~", "abcdeconforms"} {
		for _, c := range append(badCredentials(key), validKey, lowerScheme) {
			if c.value == nil {
				continue
			}
			cmd := exec.Command("sh", "-c", `printf %s "`+c.shell+`"`)
			cmd.Env = []string{"PETSTORE_API_KEY=" + key, "PATH=" + os.Getenv("PATH")}
			out, err := cmd.Output()
			if got, want := string(out), c.value(key); err != nil || got != want {
				t.Errorf("%s: the shell sends %q (%v), want %q", c.what, got, err, want)
			}
			if !c.is(validKey) && !c.is(lowerScheme) && c.value(key) == "Bearer "+key {
				t.Errorf("%s: it is the valid credential", c.what)
			}
		}
	}
}
