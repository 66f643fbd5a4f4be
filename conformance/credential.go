package conformance

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// credential is what stands in a request's Authorization field. Reports show
// it by description and never by value.
type credential struct {
	id   string // names checks
	what string // the credential in words

	// value returns the field's value for a key; no field if it is nil.
	value func(key string) string

	shown string // the value in a transcript
	shell string // the value in a curl line, within double quotes
}

// validKey is the credential of the contract (section 5, item 1).
func validKey() credential {
	return credential{
		what:  "the key",
		value: func(key string) string { return "Bearer " + key },
		shown: "Bearer [key]",
		shell: "Bearer $PETSTORE_API_KEY",
	}
}

// badCredentials returns every kind of missing or wrong credential.
func badCredentials() []credential {
	return []credential{
		{
			id: "none", what: "no Authorization field",
		},
		{
			id: "empty", what: "an empty Authorization field",
			value: func(string) string { return "" },
		},
		{
			id: "no-token", what: "the scheme Bearer without a token",
			value: func(string) string { return "Bearer" },
			shown: "Bearer", shell: "Bearer",
		},
		{
			id: "other-scheme", what: "the key under the scheme Basic",
			value: func(key string) string { return "Basic " + key },
			shown: "Basic [key]", shell: "Basic $PETSTORE_API_KEY",
		},
		{
			id: "raw-key", what: "the key without a scheme",
			value: func(key string) string { return key },
			shown: "[key]", shell: "$PETSTORE_API_KEY",
		},
		{
			id: "cut-short", what: "the key without its last character",
			value: func(key string) string { return "Bearer " + cutShort(key) },
			shown: "Bearer [key without its last character]", shell: "Bearer ${PETSTORE_API_KEY%?}",
		},
		{
			id: "prolonged", what: "the key with one more character",
			value: func(key string) string { return "Bearer " + key + "x" },
			shown: "Bearer [key]x", shell: "Bearer ${PETSTORE_API_KEY}x",
		},
		{
			id: "other-case", what: "the key with its letters in the other case",
			value: func(key string) string { return "Bearer " + swapCase(key) },
			shown: "Bearer [key in the other case]",
			shell: "Bearer $(printf %s \"$PETSTORE_API_KEY\" | tr A-Za-z a-zA-Z)",
		},
		{
			id: "wrong-key", what: "a key of the same form that is not valid",
			value: func(key string) string { return "Bearer " + otherKey(key) },
			shown: "Bearer [a key of the same form]", shell: "Bearer ${PETSTORE_API_KEY%????????}conforms",
		},
	}
}

// oddCredentials returns spellings of the valid credential that the contract
// says nothing about.
func oddCredentials() []credential {
	return []credential{
		{
			id: "two-spaces", what: "two spaces before the key",
			value: func(key string) string { return "Bearer  " + key },
			shown: "Bearer  [key]", shell: "Bearer  $PETSTORE_API_KEY",
		},
		{
			id: "more-after", what: "a word after the key",
			value: func(key string) string { return "Bearer " + key + " more" },
			shown: "Bearer [key] more", shell: "Bearer $PETSTORE_API_KEY more",
		},
	}
}

// lowerScheme is the valid credential with its scheme in another case.
func lowerScheme() credential {
	return credential{
		id: "scheme-case", what: "the scheme in lower case",
		value: func(key string) string { return "bearer " + key },
		shown: "bearer [key]", shell: "bearer $PETSTORE_API_KEY",
	}
}

// possible reports whether c differs from the valid credential for that key:
// a key without letters has no other case.
func (c credential) possible(key string) bool {
	return c.value == nil || c.value(key) != validKey().value(key)
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

// otherKey returns a key that looks like key and is not it: what seems to be
// a prefix (up to a _ or - near the start) is kept, since it is no secret and
// a target may look at it first; every letter and digit after it changes.
func otherKey(key string) string {
	head := key[:min(len(key)/2, 12)]
	start := strings.LastIndexAny(head, "_-") + 1
	// The same key gives the same other key, so that a run can be repeated.
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
