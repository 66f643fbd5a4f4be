package probe

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
)

// Redactor replaces the API key in texts, in every form in which a run sends
// it or a target is likely to echo it.
type Redactor struct {
	replacer *strings.Replacer

	// bare matches a key that is too short or too common to be replaced wherever it
	// occurs, with what comes before it. Nil: the key is neither.
	bare *regexp.Regexp
}

// hiddenValue stands for the value of a field that the caller adds to requests.
const hiddenValue = "[value of -H]"

// Replace returns s without the key.
func (r Redactor) Replace(s string) string {
	s = r.replacer.Replace(s)
	if r.bare != nil {
		s = r.bare.ReplaceAllString(s, "${1}[key]")
	}
	return s
}

// Show returns s without the key, for a terminal or a page: control characters
// are escaped.
func (r Redactor) Show(s string) string { return printable(r.Replace(s)) }

// ShowField returns the value of a header field as Show does. The name may say that
// the value is a key.
func (r Redactor) ShowField(name, value string) string {
	return printable(strings.TrimPrefix(r.Replace(name+": "+value), name+": "))
}

// shortKey is the length up to which a key may be a part of ordinary words.
const shortKey = 7

// NewRedactor returns a redactor for key and for the values of other fields. A short
// key is replaced only as a whole word. A key that occurs in ordinary, which is text
// that reports have anyway, is replaced only where it is marked as a key: after the
// scheme of a credential, or after a name such as token.
func NewRedactor(key, ordinary string, values ...string) Redactor {
	common := strings.Contains(strings.ToLower(ordinary), strings.ToLower(key))
	var pairs []string
	seen := map[string]bool{"": true}
	add := func(secret, shown string) {
		if !seen[secret] && len(secret) > shortKey {
			seen[secret] = true
			pairs = append(pairs, secret, shown)
		}
	}
	for _, v := range values {
		add(v, hiddenValue)
	}
	// The first form that matches wins, so the longer forms come first.
	for _, form := range []string{"Bearer " + key, key} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(form)), "[key in base64]")
		}
		add(hex.EncodeToString([]byte(form)), "[key in hex]")
	}
	// Texts may have been cut, perhaps inside the key.
	for n := min(len(key)-1, 400); n >= 4; n-- {
		add(key[:n]+cutMark, "[key, cut]"+cutMark)
	}
	if common || len(key) <= shortKey {
		return Redactor{strings.NewReplacer(pairs...), bareKey(key, common)}
	}
	add(url.QueryEscape(key), "[key]")
	add(strings.ReplaceAll(key, "/", `\/`), "[key]") // as JSON may write it
	add(key, "[key]")
	for _, c := range BadCredentials() {
		if c.value != nil {
			add(strings.TrimPrefix(c.value(key), "Bearer "), strings.TrimPrefix(c.Shown, "Bearer "))
		}
	}
	add(strings.ToLower(key), "[key in lower case]")
	add(strings.ToUpper(key), "[key in upper case]")
	return Redactor{replacer: strings.NewReplacer(pairs...)}
}

// bareKey matches key as a word, in any case. If it is common, it is matched only
// after something that says that it is a key.
func bareKey(key string, common bool) *regexp.Regexp {
	before := `()`
	if common {
		before = `(\b(?:bearer|basic) +|(?:key|token|credential|secret|authorization)\\?["']?\s*[:=]\s*\\?["']?(?:bearer +|basic +)?)`
	}
	edge := func(c byte) string {
		if c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			return `\b`
		}
		return ""
	}
	return regexp.MustCompile(`(?i)` + before + edge(key[0]) + regexp.QuoteMeta(key) + edge(key[len(key)-1]))
}
