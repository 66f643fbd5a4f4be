package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// curl returns a command for a POSIX shell that sends the request of x again.
// It takes the key from the environment variable PETSTORE_API_KEY. A body with
// control characters or invalid UTF-8 needs bash.
func (x *exchange) curl() string {
	q := x.request
	args := []string{"curl", "-i"}
	field := func(s string) { args = append(args, "-H", s) }
	if q.method == "POST" && q.body == nil {
		args = append(args, "-X", q.method)
	}
	switch {
	case q.credential.value == nil:
	case q.credential.shell == "":
		field("'Authorization;'") // how curl sends an empty field
	default:
		field(strings.Replace(`"Authorization: `+q.credential.shell+`"`, `{PETSTORE_API_KEY}"`, `PETSTORE_API_KEY"`, 1))
	}
	names := maps.Clone(usual)
	maps.Copy(names, q.header)
	if q.body != nil {
		names["Content-Type"] = "" // without the field, curl adds its own
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if q.header[name] != usual[name] || names[name] == "" {
			field(quote(strings.TrimSpace(name + ": " + q.header[name])))
		}
	}
	if q.accepts("gzip") {
		args = append(args, "--compressed") // decompresses the response
	}
	if strings.HasPrefix(x.url, "https:") && strings.HasPrefix(x.proto, "HTTP/1") {
		args = append(args, "--http1.1") // or curl asks for HTTP/2
	}
	if q.body != nil {
		args = append(args, "--data-binary", word(string(q.body)))
	}
	return strings.Join(append(args, quote(x.url)), " ")
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
