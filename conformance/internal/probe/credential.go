package probe

import (
	"encoding/base64"
	"math/rand/v2"
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

// BadCredentials returns every kind of missing or wrong credential, the
// missing one first. Most are the caller's own key with something changed.
func BadCredentials() []Credential {
	bad := []Credential{
		{What: "no Authorization field"},
		{"an empty Authorization field", "", "",
			func(string) string { return "" }},
		{"the scheme Bearer without a token", "Bearer", "Bearer",
			func(string) string { return "Bearer" }},
		{"the key under the scheme Basic", "Basic [key]", "Basic $PETSTORE_API_KEY",
			func(key string) string { return "Basic " + key }},
		{"well-formed Basic credentials with the key as the password", "Basic [key in base64]", `Basic $(printf pet:%s "$PETSTORE_API_KEY" | base64 -w0)`,
			func(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("pet:"+key)) }},
		{"the key without a scheme", "[key]", "$PETSTORE_API_KEY",
			func(key string) string { return key }},
		{"the key without its last character", "Bearer [key without its last character]", "Bearer ${PETSTORE_API_KEY%?}",
			func(key string) string { return "Bearer " + key[:len(key)-1] }},
		{"the key with one more character", "Bearer [key]x", "Bearer ${PETSTORE_API_KEY}x",
			func(key string) string { return "Bearer " + key + "x" }},
		{"the key with its letters in the other case", "Bearer [key in the other case]", `Bearer $(printf %s "$PETSTORE_API_KEY" | tr A-Za-z a-zA-Z)`,
			func(key string) string { return "Bearer " + swapCase(key) }},
		{"a key of the same form that is not valid", "Bearer [a key of the same form]", "Bearer ${PETSTORE_API_KEY%????????}conforms",
			func(key string) string { return "Bearer " + otherKey(key) }},
		{"the key with one more character before it", "Bearer x[key]", "Bearer x$PETSTORE_API_KEY",
			func(key string) string { return "Bearer x" + key }},
		changedKey("first", "0", func(string) int { return 0 }),
		changedKey("middle", "$((${#PETSTORE_API_KEY}/2))", func(key string) int { return len(key) / 2 }),
		changedKey("last", "$((${#PETSTORE_API_KEY}-1))", func(key string) int { return len(key) - 1 }),
		{"a token of 2,000 characters", "Bearer [2,000 times x]", `Bearer $(printf %02000d 0 | tr 0 x)`,
			func(string) string { return "Bearer " + strings.Repeat("x", 2000) }},
	}
	// Words that clients without a key send by mistake, a member that every object
	// of JavaScript has, a pattern of SQL that
	// matches any text, and a condition of SQL that is always true.
	for _, word := range []string{"undefined", "null", "Bearer", "constructor", "%", "' OR '1'='1"} {
		bad = append(bad, Credential{"the token " + word, "Bearer " + word, "Bearer " + word,
			func(string) string { return "Bearer " + word }})
	}
	return bad
}

// alike are the characters that may mean the same as an a at the end of a key: in
// base64 only the first bits of the last one count, and A is the same in base16.
const alike = "AQRSTUVWXYZabcdef"

// changedKey returns the key with one character changed: the one at the index
// that at returns. shell is the same index as an expression of a shell.
func changedKey(which, shell string, at func(key string) int) Credential {
	change := func(key string) string {
		i, c := at(key), "a"
		if strings.Contains(alike, key[i:i+1]) {
			c = "0"
		}
		return key[:i] + c + key[i+1:]
	}
	pattern := `s/^\(.\{` + shell + `\}\)`
	sed := `sed -e "` + pattern + `[` + alike + `]/\10/" -e t -e "` + pattern + `./\1a/"`
	return Credential{"the key with another " + which + " character", "Bearer [key with another " + which + " character]",
		`Bearer $(printf %s "$PETSTORE_API_KEY" | ` + sed + `)`,
		func(key string) string { return "Bearer " + change(key) }}
}

// NotASCII returns a credential whose key has letters outside ASCII. HTTP allows
// them in a field, and a server that expects none may respond 400.
func NotASCII() Credential {
	const token = "Bearer clé-ключ"
	return Credential{"a key that is not ASCII", token, token, func(string) string { return token }}
}

// Differs reports whether c is different from the valid credential for key: a
// key without letters has no other case.
func (c Credential) Differs(key string) bool {
	return c.value == nil || c.value(key) != ValidKey().value(key)
}

func swapCase(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, key)
}

// otherKey returns a different key of the same form. It keeps a prefix that
// ends in _ or -, which is not secret and which a target may look at first.
// Every letter and digit after it changes.
func otherKey(key string) string {
	head := key[:min(len(key)/2, 12)]
	start := strings.LastIndexAny(head, "_-") + 1
	// The result depends on the key alone, so that a run can be repeated.
	r := rand.New(rand.NewPCG(uint64(len(key)), 0))
	change := func(c byte, first byte, n int) byte {
		return first + byte((int(c-first)+1+r.IntN(n-1))%n)
	}
	b := []byte(key)
	for i := start; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			b[i] = change(c, '0', 10)
		case c >= 'a' && c <= 'z':
			b[i] = change(c, 'a', 26)
		case c >= 'A' && c <= 'Z':
			b[i] = change(c, 'A', 26)
		default:
			b[i] = 'x'
		}
	}
	return string(b)
}
