package probe

import (
	"net/url"
	"strings"
)

// Redactor replaces the API key in texts, and what bad credentials make of it, where a
// target echoes them as they were sent.
type Redactor struct {
	key      string
	replacer *strings.Replacer
}

// shortKey is the length in bytes up to which a key is not replaced: it may be a part of
// ordinary words, and of the curl commands.
const shortKey = 7

// NewRedactor returns a redactor for key.
func NewRedactor(key string) Redactor {
	if len(key) <= shortKey {
		return Redactor{"", strings.NewReplacer()}
	}
	pairs := []string{url.QueryEscape(key), "[key]", strings.ReplaceAll(key, "/", `\/`), "[key]"} // as JSON may write it
	bearer := func(s string) string { return strings.TrimPrefix(s, "Bearer ") }
	for _, c := range append([]Credential{ValidKey()}, BadCredentials(key)...) { // the first that matches wins
		if c.Shown != c.shell && c.Sent() {
			pairs = append(pairs, bearer(c.value(key)), bearer(c.Shown))
		}
	}
	return Redactor{key, strings.NewReplacer(pairs...)}
}

// Replace returns s without the key, nor the part of it before which s was cut.
func (r Redactor) Replace(s string) string {
	s = r.replacer.Replace(s)
	if !strings.Contains(s, cutMark) {
		return s
	}
	for n := len(r.key) - 1; n >= 3; n-- {
		s = strings.ReplaceAll(s, r.key[:n]+cutMark, "[key]"+cutMark)
	}
	return s
}

// Show returns s without the key, for a terminal or a page: control characters
// are escaped.
func (r Redactor) Show(s string) string { return printable(r.Replace(s)) }
