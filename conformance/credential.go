package conformance

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// credential is the Authorization field of a request. Reports never show its value.
type credential struct {
	what  string                  // it, in words
	value func(key string) string // of the field; nil: there is none
	shell string                  // the value in a curl command, inside double quotes
}

// is reports whether c is the same kind of credential as o.
func (c credential) is(o credential) bool { return c.what == o.what }

// shown returns c for a report.
func (c credential) shown() string {
	shown := strings.ReplaceAll(c.shell, "${PETSTORE_API_KEY}", "[key]")
	if strings.Contains(shown, "$") {
		return "[" + c.what + "]"
	}
	return shown
}

// text returns a credential with that text, in which $KEY stands for the key.
func text(what, text string) credential {
	value := func(key string) string { return strings.ReplaceAll(text, "$KEY", key) }
	return credential{what, value, value("${PETSTORE_API_KEY}")}
}

// changed returns a bearer token that is the key with a change.
func changed(what string, change func(key string) string, shell string) credential {
	return credential{what, func(key string) string { return "Bearer " + change(key) }, "Bearer " + shell}
}

var noKey = credential{what: "no Authorization field"}

// Credentials that are valid, or may be read so.
var (
	validKey     = text("the key", "Bearer $KEY")
	lowerScheme  = text("the scheme in lower case", "bearer $KEY")
	wordAfterKey = text("a word after the key", "Bearer $KEY x")
)

// badCredentials returns every kind of missing or wrong credential for a target whose key is
// key, the missing one first. Most are the key with something changed.
func badCredentials(key string) []credential {
	bad := []credential{
		noKey,
		text("an empty Authorization field", ""),
		text("the scheme Bearer without a token", "Bearer"),
		text("the key under the scheme Basic", "Basic $KEY"),
		{"well-formed Basic credentials with the key as the password",
			func(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("pet:"+key)) },
			`Basic $(printf pet:%s "$PETSTORE_API_KEY" | base64 | tr -d '\n')`},
		text("the key under the scheme Digest", "Digest $KEY"), // some servers do not look at the first seven characters
		text("the key without a space before it", "Bearer$KEY"),
		text("the key without a scheme", "$KEY"),
		text("the key with one more character", "Bearer $KEYx"),
		text("the key with one more character before it", "Bearer x$KEY"),
		changed("the key with another first character", func(key string) string { return "~" + key[1:] }, "~${PETSTORE_API_KEY#?}"),
		changed("the key with another character in the middle", func(key string) string { return key[:len(key)/2] + "~" + key[len(key)/2+1:] },
			`$(printf %s "$PETSTORE_API_KEY" | sed "s/./~/$((${#PETSTORE_API_KEY}/2+1))")`),
		changed("the key with another last character", func(key string) string { return key[:len(key)-1] + "~" }, "${PETSTORE_API_KEY%?}~"),
		changed("the key without its last character", func(key string) string { return key[:len(key)-1] }, "${PETSTORE_API_KEY%?}"),
		changed("the key with other characters at its end", func(key string) string { return key[:max(len(key)-8, 0)] + "conforms" },
			"${PETSTORE_API_KEY%????????}conforms"),
		changed("a token of 2,000 characters", func(string) string { return strings.Repeat("x", 2000) }, `$(printf %02000d 0 | tr 0 x)`),
	}
	// Words that clients without a key send by mistake, a member that every object of
	// JavaScript has, a pattern of SQL that matches any text, and a condition of SQL that
	// is always true.
	for _, word := range []string{"undefined", "null", "Bearer", "constructor", "%", "' OR '1'='1"} {
		bad = append(bad, text("the token "+word, "Bearer "+word))
	}
	// A key may have a character that another one stands for.
	return slices.DeleteFunc(bad, func(c credential) bool { return c.value != nil && c.value(key) == validKey.value(key) })
}

// notASCII are credentials with letters outside ASCII, and with bytes that are not
// UTF-8. HTTP allows them in a field, and a server that expects none may respond 400.
var notASCII = []credential{
	text("a key with letters outside ASCII", "Bearer clé-ключ"),
	changed("a key with bytes that are not UTF-8", func(string) string { return "\xff\xfe" }, `$(printf '\377\376')`),
}

// newRedactor returns a replacer of the key in what a report shows of a response, and of what bad
// credentials make of it, also where a text was cut within it. A key of less than 16 characters stays: it
// may be a part of ordinary words.
func newRedactor(key string) *strings.Replacer {
	if len(key) < 16 {
		return strings.NewReplacer()
	}
	quoted := strconv.Quote(key)
	secrets := []string{key, quoted[1 : len(quoted)-1], url.QueryEscape(key), strings.ReplaceAll(key, "/", `\/`)} // as JSON may write it
	for _, c := range badCredentials(key) {
		if strings.Contains(c.shell, "PETSTORE_API_KEY") {
			value := c.value(key)
			secrets = append(secrets, value[strings.LastIndexByte(value, ' ')+1:])
		}
	}
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, "[key]")
		for n := min(len(secret)-1, 200); n >= 4; n-- { // cut leaves at most 200 bytes
			pairs = append(pairs, secret[:n]+"…", "[key]…", "…"+secret[len(secret)-n:], "…[key]")
		}
	}
	return strings.NewReplacer(pairs...)
}
