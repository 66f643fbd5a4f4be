package wire

import (
	"fmt"
	"strconv"
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

// Cut shortens s to about limit bytes and says how many are missing.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > max(0, limit-utf8.UTFMax) && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… [%d bytes more]", s[:n], len(s)-n)
}

// short cuts s to a length that fits into a message.
func short(s string) string { return Cut(s, 80) }

// Different shows two texts that differ, with escapes if one has characters that are
// composed of others: then the two may look the same.
func Different(got, want string) string {
	quote := strconv.Quote
	composed := func(r rune) bool { return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Hangul, r) }
	if strings.ContainsFunc(got+want, composed) {
		quote = strconv.QuoteToASCII
	}
	return fmt.Sprintf("%s, want %s", short(quote(got)), short(quote(want)))
}
