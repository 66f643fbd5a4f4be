package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// newRedactor returns a replacer that takes key out of a text in every form
// in which this run sends it or a target is likely to echo it.
func newRedactor(key string) *strings.Replacer {
	var pairs []string
	seen := map[string]bool{"": true}
	add := func(secret, shown string) {
		if !seen[secret] {
			seen[secret] = true
			pairs = append(pairs, secret, shown)
		}
	}
	// The first that matches at a place wins, so the longer forms go first.
	for _, form := range []string{"Bearer " + key, key} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(form)), "[key in base64]")
		}
		add(hex.EncodeToString([]byte(form)), "[key in hex]")
	}
	add(url.QueryEscape(key), "[key]")
	add(strings.ReplaceAll(key, "/", `\/`), "[key]") // a way to write / in JSON
	add(key, "[key]")
	add(swapCase(key), "[key in the other case]")
	add(strings.ToLower(key), "[key in lower case]")
	add(strings.ToUpper(key), "[key in upper case]")
	if len(key) >= 8 { // less than that is a part of ordinary words
		add(cutShort(key), "[key without its last character]")
		add(otherKey(key), "[a key of the same form]")
	}
	// Messages hold texts that were cut, maybe within the key.
	for n := min(len(key)-1, 400); n >= 4; n-- {
		add(key[:n]+cutMark, "[key, cut]"+cutMark)
	}
	return strings.NewReplacer(pairs...)
}
