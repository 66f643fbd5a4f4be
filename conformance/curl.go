package conformance

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxCurlBody is the longest body that a curl line spells out.
const maxCurlBody = 4096

// curl returns a command for a POSIX shell (bash where the body holds bytes
// that are no text) that sends x's request again.
func (x *exchange) curl(redact *strings.Replacer) string {
	r := x.req
	args := []string{"curl", "-i"}
	switch {
	case r.method == "HEAD":
		args = append(args, "-I")
	case r.method != "GET" && (r.method != "POST" || r.body == nil):
		args = append(args, "-X", r.method)
	}
	if r.auth.value != nil {
		if r.auth.shell == "" {
			args = append(args, "-H", "'Authorization;'") // curl's way to send an empty field
		} else {
			args = append(args, "-H", `"Authorization: `+r.auth.shell+`"`)
		}
	}
	switch {
	case r.ctype != "":
		args = append(args, "-H", quote("Content-Type: "+r.ctype))
	case r.body != nil:
		args = append(args, "-H", "'Content-Type:'") // none, where curl would add its own
	}
	if r.chunked {
		args = append(args, "-H", "'Transfer-Encoding: chunked'")
	}
	if r.body != nil {
		args = append(args, "--data-binary", curlBody(redact.Replace(string(r.body))))
	}
	return strings.Join(append(args, quote(redact.Replace(x.url))), " ")
}

func curlBody(body string) string {
	if len(body) > maxCurlBody {
		return fmt.Sprintf("@FILE # a file with the %d bytes of the body", len(body))
	}
	return quote(body)
}

// quote returns s as one word of a shell.
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
