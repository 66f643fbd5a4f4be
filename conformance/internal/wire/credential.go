package wire

import (
	"net/url"
	"strconv"
	"strings"
)

// Credential is the Authorization field of a request. Reports never show its value.
type Credential struct {
	What  string                  // it, in words
	Value func(key string) string // of the field; nil: there is none
	Shell string                  // the value in a curl command, inside double quotes
}

// Shown returns the value of c for a report.
func (c Credential) Shown() string {
	shown := strings.ReplaceAll(c.Shell, "${PETSTORE_API_KEY}", "[key]")
	if strings.Contains(shown, "$") {
		return "[" + c.What + "]"
	}
	return shown
}

// newRedactor returns a replacer of the key and the other secrets in what a report shows of a response,
// also where Cut has cut a text within one. A key of less than 16 characters stays: it may be a part of
// ordinary words.
func newRedactor(key string, secrets []string) *strings.Replacer {
	if len(key) < 16 {
		return strings.NewReplacer()
	}
	quoted := strconv.Quote(key)
	secrets = append([]string{key, quoted[1 : len(quoted)-1], url.QueryEscape(key), strings.ReplaceAll(key, "/", `\/`)}, secrets...)
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, "[key]")
		for n := min(len(secret)-1, 200); n >= 4; n-- { // Cut leaves at most 200 bytes in a line
			pairs = append(pairs, secret[:n]+"…", "[key]…", "…"+secret[len(secret)-n:], "…[key]")
		}
	}
	return strings.NewReplacer(pairs...)
}
