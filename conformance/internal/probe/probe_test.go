package probe

import (
	"os"
	"os/exec"
	"slices"
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
		{text: "1.5", err: "is not an integer"},
		{text: "1e-1", err: "is not an integer"},
		{text: "1e999999999", err: "is not an integer"},
		{text: "1e999999999999", err: "is not an integer"},
		{text: "1e-999999999999", err: "is not an integer"},
		{text: "1." + strings.Repeat("0", 2000), want: 1},
		{text: `"7"`, err: `is the string "7", not an integer`},
		{text: "null", err: "is null, not an integer"},
		{text: "[7]", err: "is an array, not an integer"},
	} {
		got, err := readInt64(jsontext.Value(tt.text))
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("readInt64(%s) = %d, %v; want %d, %q", Short(tt.text), got, err, tt.want, tt.err)
		}
	}
}

func TestParseJSON(t *testing.T) {
	for text, ok := range map[string]bool{
		`[]`: true, " \r\n\t{} \n": true, `{"a":1,"a":2}`: true, `"\ud800"`: true, `null`: true, "7": true,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{} x`: false, `[][]`: false, "\xef\xbb\xbf[]": false,
		"\"\xff\"": false, `{'a':1}`: false, `NaN`: false, "\v[]": false, "\u00a0[]": false,
	} {
		if _, err := parseJSON([]byte(text)); (err == nil) != ok {
			t.Errorf("parseJSON(%q): %v", text, err)
		}
	}
}

const testKey = "petstore_zw3eackaijyksx4mvj2nwlomzp2n57vpzsvix4kp6n3n2yt2lhvsroxg"

// What a target echoes of a credential, as it was sent, is replaced.
func TestRedact(t *testing.T) {
	const key = "s3cr-et/K3y-0123456789"
	r := NewRedactor(key)
	for _, c := range append(BadCredentials(key), ValidKey(), LowerScheme()) {
		if c.Sent() && r.Show("got "+c.value(key)) != "got "+c.Shown {
			t.Errorf("%s is shown as %q, want %q", c.What, r.Show(c.value(key)), c.Shown)
		}
	}
	for text, want := range map[string]string{
		`{"got":"s3cr-et\/K3y-0123456789"}`:  `{"got":"[key]"}`,
		"?key=s3cr-et%2FK3y-0123456789":      "?key=[key]",
		"\x1b[31m\xff":                       `\u001b[31m\xff`,
		Cut("got s3cr-et/K3y-0123456789", 9): "got [key]… [17 bytes more]",
	} {
		if got := r.Show(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := NewRedactor("pet").Show("a pet"); got != "a pet" {
		t.Errorf("a word that is a short key is shown as %q", got)
	}
}

// A curl command sends the same credential as the run.
func TestShell(t *testing.T) {
	for _, key := range []string{testKey, "abcdefghij", "bcdefghijKLM", "~bcdefg~hijKL~", "abcdeconforms"} {
		for _, c := range append(BadCredentials(key), ValidKey(), LowerScheme()) {
			if !c.Sent() {
				continue
			}
			cmd := exec.Command("sh", "-c", `printf %s "`+c.shell+`"`)
			cmd.Env = []string{"PETSTORE_API_KEY=" + key, "PATH=" + os.Getenv("PATH")}
			out, err := cmd.Output()
			if got, want := string(out), c.value(key); err != nil || got != want {
				t.Errorf("%s: the shell sends %q (%v), want %q", c.What, got, err, want)
			}
			if !c.Is(ValidKey()) && !c.Is(LowerScheme()) && c.value(key) == "Bearer "+key {
				t.Errorf("%s: it is the valid credential", c.What)
			}
		}
	}
}

// The other case of a key is a wrong one only if no target can read it as the same.
func TestOtherCase(t *testing.T) {
	for key, want := range map[string]bool{
		"Petstore-1": true, "petstore-1": false, "PETSTORE-1": false, "0123456789": false, "deadBEEF00": true,
		"123e4567-e89b-12d3-a456-426614174000": false, "123E4567-e89b-12d3-a456-426614174000": false, "123e4567E89b12d3a456426614174000": false,
	} {
		got := slices.ContainsFunc(BadCredentials(key), func(c Credential) bool { return strings.Contains(c.What, "other case") })
		if got != want {
			t.Errorf("%s: its other case is a wrong key: %v, want %v", key, got, want)
		}
	}
}

// An error shows where a body is not JSON, even far from its beginning.
func TestBreaksAt(t *testing.T) {
	long := strings.Repeat(`{"id":1},`, 1000)
	for body, want := range map[string]string{
		"<h1>no</h1>":                    "the body is not valid JSON from its beginning: <h1>no</h1>",
		`[` + long + `{"age":Infinity}]`: `the body is not valid JSON from byte 9008 on: Infinity}], after …d":1},{"id":1},{"id":1},{"id":1},{"age":`,
		`{"a":1`:                         `the body is not valid JSON from byte 6 on: the end, after {"a":1`,
		"{} x":                           "the body is not valid JSON from byte 3 on: x, after {} ",
		"[\"a\xff\"]":                    "the body is not JSON, since it is not UTF-8, from byte 3 on: \xff\"], after [\"a",
	} {
		if _, err := parseJSON([]byte(body)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", Short(body), err, want)
		}
	}
}
