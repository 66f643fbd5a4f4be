package probe

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Credential is the Authorization field of a request. Reports show its
// description, never its value. The zero Credential sends no field.
type Credential struct {
	What string // it, in words

	// Shown is the field's value as transcripts show it, and shell the same in
	// a curl command, inside double quotes.
	Shown string
	shell string

	// value returns the field's value for a key. Nil: no field.
	value func(key string) string
}

// Sent reports whether there is a field at all.
func (c Credential) Sent() bool { return c.value != nil }

// ValidKey is the credential of the contract (section 5).
func ValidKey() Credential {
	return Credential{"the key", "Bearer [key]", "Bearer $PETSTORE_API_KEY",
		func(key string) string { return "Bearer " + key }}
}

// LowerScheme is the valid credential with its scheme in another case.
func LowerScheme() Credential {
	return Credential{"the scheme in lower case", "bearer [key]", "bearer $PETSTORE_API_KEY",
		func(key string) string { return "bearer " + key }}
}

// BadCredentials returns every kind of missing or wrong credential for a target whose key is
// key, the missing one first. Most are the key with something changed.
func BadCredentials(key string) []Credential {
	bad := []Credential{
		{What: "no Authorization field"},
		{"an empty Authorization field", "", "",
			func(string) string { return "" }},
		{"the scheme Bearer without a token", "Bearer", "Bearer",
			func(string) string { return "Bearer" }},
		{"the key under the scheme Basic", "Basic [key]", "Basic $PETSTORE_API_KEY",
			func(key string) string { return "Basic " + key }},
		{"well-formed Basic credentials with the key as the password", "Basic [key in base64]", `Basic $(printf pet:%s "$PETSTORE_API_KEY" | base64 | tr -d '\n')`,
			func(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("pet:"+key)) }},
		// Some servers do not look at the first seven characters.
		{"the key under the scheme Digest", "Digest [key]", "Digest $PETSTORE_API_KEY",
			func(key string) string { return "Digest " + key }},
		{"the key without a space before it", "Bearer[key]", "Bearer$PETSTORE_API_KEY",
			func(key string) string { return "Bearer" + key }},
		{"the key without a scheme", "[key]", "$PETSTORE_API_KEY",
			func(key string) string { return key }},
		{"the key with another first character", "Bearer [key with another first character]", "Bearer ~${PETSTORE_API_KEY#?}",
			func(key string) string { return "Bearer ~" + key[1:] }},
		{"the key with another character in the middle", "Bearer [key with another character in the middle]", `Bearer $(printf %s "$PETSTORE_API_KEY" | sed "s/./~/$((${#PETSTORE_API_KEY}/2+1))")`,
			func(key string) string { return "Bearer " + key[:len(key)/2] + "~" + key[len(key)/2+1:] }},
		{"the key with another last character", "Bearer [key with another last character]", "Bearer ${PETSTORE_API_KEY%?}~",
			func(key string) string { return "Bearer " + key[:len(key)-1] + "~" }},
		{"the key without its last character", "Bearer [key without its last character]", "Bearer ${PETSTORE_API_KEY%?}",
			func(key string) string { return "Bearer " + key[:len(key)-1] }},
		{"the key with one more character", "Bearer [key]x", "Bearer ${PETSTORE_API_KEY}x",
			func(key string) string { return "Bearer " + key + "x" }},
		{"the key with other characters at its end", "Bearer [key with another end]", "Bearer ${PETSTORE_API_KEY%????????}conforms",
			func(key string) string { return "Bearer " + key[:max(len(key)-8, 0)] + "conforms" }},
		{"the key with one more character before it", "Bearer x[key]", "Bearer x$PETSTORE_API_KEY",
			func(key string) string { return "Bearer x" + key }},
		{"a token of 2,000 characters", "Bearer [2,000 times x]", `Bearer $(printf %02000d 0 | tr 0 x)`,
			func(string) string { return "Bearer " + strings.Repeat("x", 2000) }},
	}
	// Words that clients without a key send by mistake, a member that every object of
	// JavaScript has, a pattern of SQL that matches any text, and a condition of SQL that
	// is always true.
	for _, word := range []string{"undefined", "null", "Bearer", "constructor", "%", "' OR '1'='1"} {
		bad = append(bad, Credential{"the token " + word, "Bearer " + word, "Bearer " + word,
			func(string) string { return "Bearer " + word }})
	}
	if hasCase(key) {
		bad = append(bad, Credential{
			"the key with its letters in the other case",
			"Bearer [key in the other case]",
			`Bearer $(printf %s "$PETSTORE_API_KEY" | tr A-Za-z a-zA-Z)`,
			func(key string) string { return "Bearer " + swapCase(key) },
		})
	}
	// A key may have a character that another one stands for.
	return slices.DeleteFunc(bad, func(c Credential) bool { return c.Sent() && c.value(key) == ValidKey().value(key) })
}

// NotASCII returns credentials with bytes outside ASCII: letters, and bytes that are not
// UTF-8. HTTP allows them in a field, and a server that expects none may respond 400.
func NotASCII() []Credential {
	const letters, bytes = "Bearer clé-ключ", "Bearer \xff\xfe"
	return []Credential{
		{"a key with letters outside ASCII", letters, letters, func(string) string { return letters }},
		{"a key with bytes that are not UTF-8", `Bearer \xff\xfe`, `Bearer $(printf '\377\376')`, func(string) string { return bytes }},
	}
}

// WordAfterKey returns the valid credential with a word after the key.
func WordAfterKey() Credential {
	return Credential{"a word after the key", "Bearer [key] x", "Bearer $PETSTORE_API_KEY x",
		func(key string) string { return "Bearer " + key + " x" }}
}

// Is reports whether c is the same kind of credential as o.
func (c Credential) Is(o Credential) bool { return c.What == o.What }

// hasCase reports whether the other case of key is another key. The other case of a UUID is
// the same one (RFC 9562, section 4), and a target may have keys of one case, such as those in
// hexadecimal digits, and read both.
func hasCase(key string) bool {
	return key != strings.ToLower(key) && key != strings.ToUpper(key) && !uuid.MatchString(key)
}

var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$`)

func swapCase(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, key)
}
