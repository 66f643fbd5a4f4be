package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Curl returns a command for a POSIX shell that sends the request of x again.
// It takes the key from the environment variable PETSTORE_API_KEY. A body with
// control characters or invalid UTF-8 needs bash, and one with Request.Python Python.
func (x *Exchange) Curl(redact Redactor) string {
	r := x.Request
	args := []string{"curl", "-i"}
	if r.Method != "GET" && (r.Method != "POST" || r.Body == nil) {
		args = append(args, "-X", r.Method)
	}
	switch {
	case r.Credential.value == nil:
	case r.Credential.shell == "":
		args = append(args, "-H", "'Authorization;'") // how curl sends an empty field
	default:
		args = append(args, "-H", `"Authorization: `+r.Credential.shell+`"`)
	}
	switch {
	case r.ContentType != "":
		args = append(args, "-H", quote("Content-Type: "+r.ContentType))
	case r.Body != nil:
		args = append(args, "-H", "'Content-Type:'") // or curl adds its own
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		args = append(args, "-H", quote(strings.TrimSpace(name+": "+r.Header[name])))
	}
	if r.Accepts("gzip") {
		args = append(args, "--compressed") // decompresses the response
	}
	if strings.HasPrefix(x.URL, "https:") && strings.HasPrefix(x.Proto, "HTTP/1") {
		args = append(args, "--http1.1") // or curl asks for HTTP/2
	}
	switch {
	case r.Python != "":
		args = append([]string{"python3", "-c", quote("print(" + r.Python + `, end="")`), "|"}, append(args, "--data-binary", "@-")...)
	case r.Body != nil:
		args = append(args, "--data-binary", quote(redact.Replace(string(r.Body))))
	}
	return strings.Join(append(args, quote(redact.Replace(x.URL))), " ")
}

// quote returns s as one word for a shell.
func quote(s string) string {
	plain := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
	if plain {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
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
	b.WriteByte('\'')
	return b.String()
}
