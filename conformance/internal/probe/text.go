package probe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable returns s with control characters and bytes that are not UTF-8
// written as escapes, so that no response can change a terminal or a page.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cutMark follows a text that was cut. What follows it says how much is
// missing.
const cutMark = "… ["

// Cut shortens s to about limit bytes and says how many are missing.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > max(0, limit-utf8.UTFMax) && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s%s%d bytes more]", s[:n], cutMark, len(s)-n)
}

// Short cuts s to a length that fits into a message.
func Short(s string) string { return Cut(s, 80) }

// Plural returns n and the noun, which gets an s unless n is 1.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
