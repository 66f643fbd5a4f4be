package probe

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// Redactor replaces the API key in texts, in every form in which a run sends
// it or a target is likely to echo it.
type Redactor struct{ replacer *strings.Replacer }

// Replace returns s without the key.
func (r Redactor) Replace(s string) string { return r.replacer.Replace(s) }

// Show returns s without the key, for a terminal or a page: control characters
// are escaped.
func (r Redactor) Show(s string) string { return printable(r.Replace(s)) }

// NewRedactor returns a redactor for key.
func NewRedactor(key string) Redactor {
	var pairs []string
	seen := map[string]bool{"": true}
	add := func(secret, shown string) {
		if !seen[secret] {
			seen[secret] = true
			pairs = append(pairs, secret, shown)
		}
	}
	// The first form that matches wins, so the longer forms come first.
	for _, form := range []string{"Bearer " + key, key} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(form)), "[key in base64]")
		}
		add(hex.EncodeToString([]byte(form)), "[key in hex]")
	}
	add(url.QueryEscape(key), "[key]")
	add(strings.ReplaceAll(key, "/", `\/`), "[key]") // as JSON may write it
	add(key, "[key]")
	add(swapCase(key), "[key in the other case]")
	add(strings.ToLower(key), "[key in lower case]")
	add(strings.ToUpper(key), "[key in upper case]")
	if len(key) >= 8 { // a shorter key may be part of ordinary words
		add(cutShort(key), "[key without its last character]")
		add(otherKey(key), "[a key of the same form]")
	}
	// Messages quote texts that were cut, perhaps inside the key.
	for n := min(len(key)-1, 400); n >= 4; n-- {
		add(key[:n]+cutMark, "[key, cut]"+cutMark)
	}
	return Redactor{strings.NewReplacer(pairs...)}
}
