package probe

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// Credential is the Authorization field of a request. Reports show its
// description, never its value. The zero Credential sends no field.
type Credential struct {
	ID   string // in the IDs of checks
	What string // in words

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
	return Credential{"", "the key", "Bearer [key]", "Bearer $PETSTORE_API_KEY",
		func(key string) string { return "Bearer " + key }}
}

// LowerScheme is the valid credential with its scheme in another case.
func LowerScheme() Credential {
	return Credential{"", "the scheme in lower case", "bearer [key]", "bearer $PETSTORE_API_KEY",
		func(key string) string { return "bearer " + key }}
}

// BadCredentials returns every kind of missing or wrong credential, the
// missing one first. Apart from a few words each is the caller's own key with
// something changed.
func BadCredentials() []Credential {
	bad := []Credential{
		{ID: "none", What: "no Authorization field"},
		{"empty", "an empty Authorization field", "", "",
			func(string) string { return "" }},
		{"no-token", "the scheme Bearer without a token", "Bearer", "Bearer",
			func(string) string { return "Bearer" }},
		{"other-scheme", "the key under the scheme Basic", "Basic [key]", "Basic $PETSTORE_API_KEY",
			func(key string) string { return "Basic " + key }},
		{"raw-key", "the key without a scheme", "[key]", "$PETSTORE_API_KEY",
			func(key string) string { return key }},
		{"cut-short", "the key without its last character", "Bearer [key without its last character]", "Bearer ${PETSTORE_API_KEY%?}",
			func(key string) string { return "Bearer " + cutShort(key) }},
		{"prolonged", "the key with one more character", "Bearer [key]x", "Bearer ${PETSTORE_API_KEY}x",
			func(key string) string { return "Bearer " + key + "x" }},
		{"other-case", "the key with its letters in the other case", "Bearer [key in the other case]", `Bearer $(printf %s "$PETSTORE_API_KEY" | tr A-Za-z a-zA-Z)`,
			func(key string) string { return "Bearer " + swapCase(key) }},
		{"wrong-key", "a key of the same form that is not valid", "Bearer [a key of the same form]", "Bearer ${PETSTORE_API_KEY%????????}conforms",
			func(key string) string { return "Bearer " + otherKey(key) }},
		{"preceded", "the key with one more character before it", "Bearer x[key]", "Bearer x$PETSTORE_API_KEY",
			func(key string) string { return "Bearer x" + key }},
		changedKey("first", "0", func(string) int { return 0 }),
		changedKey("middle", "$((${#PETSTORE_API_KEY}/2))", func(key string) int { return len(key) / 2 }),
		changedKey("last", "$((${#PETSTORE_API_KEY}-1))", func(key string) int { return len(key) - 1 }),
	}
	// Words that clients without a key send by mistake, and a member that every object
	// of JavaScript has.
	for _, word := range []string{"undefined", "null", "Bearer", "constructor"} {
		bad = append(bad, keyless(strings.ToLower(word), "the word "+word+" for the key", word))
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
	return Credential{"changed-" + which, "the key with another " + which + " character", "Bearer [key with another " + which + " character]",
		`Bearer $(printf %s "$PETSTORE_API_KEY" | ` + sed + `)`,
		func(key string) string { return "Bearer " + change(key) }}
}

// NotASCII returns a credential whose key has letters outside ASCII. HTTP allows
// them in a field, and a server that expects none may respond 400.
func NotASCII() Credential { return keyless("not-ascii", "a key that is not ASCII", "clé-ключ") }

// keyless returns a credential that does not depend on the key.
func keyless(id, what, token string) Credential {
	return Credential{id, what, "Bearer " + token, "Bearer " + token,
		func(string) string { return "Bearer " + token }}
}

// UnusualCredentials returns forms of the valid credential that the contract
// says nothing about.
func UnusualCredentials() []Credential {
	return []Credential{
		{"", "two spaces before the key", "Bearer  [key]", "Bearer  $PETSTORE_API_KEY",
			func(key string) string { return "Bearer  " + key }},
		{"", "a word after the key", "Bearer [key] more", "Bearer $PETSTORE_API_KEY more",
			func(key string) string { return "Bearer " + key + " more" }},
		{"", "the key twice", "Bearer [key], Bearer [key]", "Bearer $PETSTORE_API_KEY, Bearer $PETSTORE_API_KEY",
			func(key string) string { return "Bearer " + key + ", Bearer " + key }},
		{"", "the scheme twice", "Bearer Bearer [key]", "Bearer Bearer $PETSTORE_API_KEY",
			func(key string) string { return "Bearer Bearer " + key }},
	}
}

// Differs reports whether c is different from the valid credential for key: a
// key without letters has no other case.
func (c Credential) Differs(key string) bool {
	return c.value == nil || c.value(key) != ValidKey().value(key)
}

func cutShort(key string) string { return key[:len(key)-1] }

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
