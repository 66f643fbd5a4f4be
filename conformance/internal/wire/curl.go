package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Curl returns a command for a POSIX shell that sends the request of x again.
// It takes the key from the environment variable PETSTORE_API_KEY. A body with
// control characters or invalid UTF-8 needs bash.
func (x *Exchange) Curl() string {
	q := x.request
	args := []string{"curl", "-i"}
	field := func(s string) { args = append(args, "-H", s) }
	switch {
	case q.Credential.Value == nil:
	case q.Credential.Shell == "":
		field("'Authorization;'") // how curl sends an empty field
	default:
		field(strings.Replace(`"Authorization: `+q.Credential.Shell+`"`, `{PETSTORE_API_KEY}"`, `PETSTORE_API_KEY"`, 1))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		field(quote(strings.TrimSpace(name + ": " + q.Header[name])))
	}
	if q.Accepts("gzip") {
		args = append(args, "--compressed") // decompresses the response
	}
	if strings.HasPrefix(q.URL, "https:") && strings.HasPrefix(x.proto, "HTTP/1") {
		args = append(args, "--http1.1") // or curl asks for HTTP/2
	}
	if q.Method == "POST" {
		args = append(args, "--data-binary", word(string(q.Body)))
	}
	return strings.Join(append(args, quote(q.URL)), " ")
}

// word returns s as one word for a shell. Each long run of one character is a command that
// prints it.
func word(s string) string {
	for i := 0; i < len(s); {
		n := 1
		for i+n < len(s) && s[i+n] == s[i] {
			n++
		}
		if n >= 200 && s[i] < utf8.RuneSelf {
			run := fmt.Sprintf(`"$(printf %%%ds | tr ' ' %s)"`, n, quote(s[i:i+1]))
			if i > 0 {
				run = quote(s[:i]) + run
			}
			if i+n < len(s) {
				run += word(s[i+n:])
			}
			return run
		}
		i += n
	}
	return quote(s)
}

// quote returns s as one word for a shell.
func quote(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
