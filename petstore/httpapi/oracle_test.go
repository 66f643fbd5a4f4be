package httpapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// parseJSON parses RFC 8259 as the handler must: one value, valid UTF-8, no
// name twice, no lone surrogate. It shares no code with the decoder under test:
// encoding/json lacks the last three rules.
func parseJSON(s string) (value any, ok bool) {
	if !utf8.ValidString(s) || !json.Valid([]byte(s)) || hasLoneSurrogate(s) || hasDuplicate(json.NewDecoder(strings.NewReader(s))) {
		return nil, false
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	return value, dec.Decode(&value) == nil
}

// escapes matches an escape in JSON, or two that are a pair of surrogates.
var escapes = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.`)

var surrogate = regexp.MustCompile(`^\\u[dD][89a-fA-F]..$`)

func hasLoneSurrogate(s string) bool {
	for _, escape := range escapes.FindAllString(s, -1) {
		if surrogate.MatchString(escape) {
			return true
		}
	}
	return false
}

// hasDuplicate reports whether an object in the next value of dec, which must be
// valid, has a name twice.
func hasDuplicate(dec *json.Decoder) bool {
	names := map[any]bool{}
	open, _ := dec.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	for dec.More() {
		if open == json.Delim('{') {
			name, _ := dec.Token()
			if names[name] {
				return true
			}
			names[name] = true
		}
		if hasDuplicate(dec) {
			return true
		}
	}
	_, _ = dec.Token() // the closing one
	return false
}
