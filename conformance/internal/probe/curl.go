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
// control characters or invalid UTF-8 needs bash.
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
	if r.Chunked {
		args = append(args, "-H", "'Transfer-Encoding: chunked'")
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
	if r.Body != nil {
		body := redact.Replace(string(r.Body))
		switch {
		case strings.Contains(body, "\x00"): // which no argument has
			octal := strings.NewReplacer(`\`, `\\`, `%`, `%%`, "\x00", `\000`).Replace(body)
			args = append([]string{"printf", quote(octal), "|"}, append(args, "--data-binary", "@-")...)
		case len(body) > maxArgument:
			args = append([]string{"printf", "%s", word(body), "|"}, append(args, "--data-binary", "@-")...)
		default:
			args = append(args, "--data-binary", word(body))
		}
	}
	return strings.Join(append(args, quote(redact.Replace(x.URL))), " ")
}

// maxArgument is the length in bytes from which on a body is not an argument of curl: Linux
// allows 128 KiB for one. The shell's own printf has no limit.
const maxArgument = 100 << 10

// longRun is how many times a character follows itself in what word shortens.
const longRun = 200

// word returns s as one word for a shell. Each long run of one character is a command that
// prints it.
func word(s string) string {
	for i := 0; i < len(s); {
		n := 1
		for i+n < len(s) && s[i+n] == s[i] {
			n++
		}
		if n >= longRun && s[i] < utf8.RuneSelf {
			run := fmt.Sprintf(`"$(printf %%%ds | tr ' ' %s)"`, n, quote(s[i:i+1]))
			if s[i] == ' ' {
				run = fmt.Sprintf(`"$(printf %%%ds)"`, n)
			}
			before, after := "", ""
			if i > 0 {
				before = quote(s[:i])
			}
			if i+n < len(s) {
				after = word(s[i+n:])
			}
			return before + run + after
		}
		i += n
	}
	return quote(s)
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
