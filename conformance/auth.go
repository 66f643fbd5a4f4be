package conformance

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"example.com/animalstore/conformance/internal/wire"
)

// The credential (contract, section 5).

var keyChecks = []Check{
	{"auth.list", Required, "4.1, 5, 7", "GET /pets without a valid credential gets 401"},
	{"auth.create", Required, "4.2, 5, 7", "POST /pets without a valid credential gets 401"},
	{"auth.get", Required, "4.3, 5, 7", "GET /pets/{petId} without a valid credential gets 401"},
	{"messages.auth", Required, "4.4, 5, 7", "POST /messages without a valid credential gets 401"},
	{"auth.first", Required, "5", "without a credential a wrong parameter or an unknown id gets 401"},
	{"auth.create.first", Recommended, "4.2, 5", "without a credential a wrong body gets 401"},
	{"messages.auth.first", Recommended, "4.4, 5", "without a credential a wrong message gets 401"},
	{"auth.ascii", Recommended, "5", "a credential outside ASCII gets 401"},
	{"auth.word", Recommended, "5", "the key with a word after it gets 401"},
	{"auth.challenge", Recommended, "RFC 9110, 15.5.2", "a 401 has a challenge for a bearer token"},
	{"auth.scheme-case", Recommended, "RFC 9110, 11.1", "the scheme of the credential has no case"},
}

// badKeys uses every operation without the valid key.
func (r *run) badKeys() {
	id := r.anID()
	for _, op := range []struct {
		check string
		q     func() request
	}{
		{"auth.list", func() request { return get("/pets") }},
		{"auth.get", func() request { return get(petPath(id)) }},
		{"auth.create", func() request { return add(r.pet("available")) }},
		{"messages.auth", func() request { return submit(r.name()) }},
	} {
		check, q := op.check, op.q
		for _, c := range badCredentials(r.target.Key) {
			r.queue(r.want401(check, q().with(c)))
		}
		for _, c := range notASCII {
			r.queue(step{q().with(c), func(x *exchange) {
				r.mustUnauthorize("auth.ascii", x)
				if !x.refused() { // HTTP servers may refuse it by themselves
					r.mustUnauthorize(check, x)
				}
			}})
		}
		if check == "auth.list" || check == "messages.auth" { // no check looks for what these have added
			r.queue(r.want401("auth.word", q().with(wordAfterKey)), step{q().with(lowerScheme), func(x *exchange) {
				r.check("auth.scheme-case", x, x.Succeeded(), `the valid key after "bearer" gets %s`, x.StatusLine())
			}})
		}
	}
	// Without a valid key a client must not learn what is in the store, or what a request looks like.
	cutShort := func(op string) request {
		return post(op, `{"`).as("a body that is cut short", refusal).with(noKey)
	}
	r.play(
		r.want401("auth.first", get("/pets?limit=0&status=lost").as("", undefined).with(noKey)),
		r.want401("auth.first", get(petPath(r.unusedID())).as("", refusal).with(noKey)),
		r.want401("auth.create.first", cutShort(opCreate)),
		r.want401("messages.auth.first", cutShort(opSubmit)))
}

// want401 sends a request with a bad credential, which must get 401.
func (r *run) want401(check string, q request) step {
	return step{q, func(x *exchange) { r.mustUnauthorize(check, x) }}
}

// sameRequests sends the same requests with the key and without it: a response to the one must not be that
// to the other.
func (r *run) sameRequests() {
	id, text, longest := r.anID(), r.name(), query{"available", 100}
	without := func(check string, q request) { r.play(r.want401(check, q.with(noKey))) }
	for range 2 {
		without("auth.get", get(petPath(id)))
		r.play(r.fetching(id))
		without("auth.list", get(longest.path()))
		r.list(longest)
	}
	without("messages.auth", submit(text))
	r.submit(text)
	without("messages.auth", submit(text))
}

// mustUnauthorize says that x, whose credential is bad, must be a 401.
func (r *run) mustUnauthorize(id string, x *exchange) {
	r.checkStatus(id, x, x.request.Credential.What, x.Status == 401, "401")
}

// hasBadKey reports whether q has no valid credential, even if that is read leniently.
func (q request) hasBadKey() bool {
	return !q.hasKey() && !q.has(lowerScheme) && !q.has(wordAfterKey)
}

// credential returns a credential with that text, in which $KEY stands for the key.
func credential(what, text string) wire.Credential {
	value := func(key string) string { return strings.ReplaceAll(text, "$KEY", key) }
	return wire.Credential{What: what, Value: value, Shell: value("${PETSTORE_API_KEY}")}
}

// changed returns a bearer token that is the key with a change.
func changed(what string, change func(key string) string, shell string) wire.Credential {
	return wire.Credential{What: what, Value: func(key string) string { return "Bearer " + change(key) }, Shell: "Bearer " + shell}
}

var noKey = wire.Credential{What: "no Authorization field"}

// Credentials that are valid, or may be read so.
var (
	validKey     = credential("the key", "Bearer $KEY")
	lowerScheme  = credential("the scheme in lower case", "bearer $KEY")
	wordAfterKey = credential("a word after the key", "Bearer $KEY x")
)

// badCredentials returns every kind of missing or wrong credential for a target whose key is
// key, the missing one first. Most are the key with something changed.
func badCredentials(key string) []wire.Credential {
	bad := []wire.Credential{
		noKey,
		credential("an empty Authorization field", ""),
		credential("the scheme Bearer without a token", "Bearer"),
		credential("the key under the scheme Basic", "Basic $KEY"),
		{
			What:  "well-formed Basic credentials with the key as the password",
			Value: func(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("pet:"+key)) },
			Shell: `Basic $(printf pet:%s "$PETSTORE_API_KEY" | base64 | tr -d '\n')`,
		},
		credential("the key under the scheme Digest", "Digest $KEY"), // some servers do not look at the first seven characters
		credential("the key without a space before it", "Bearer$KEY"),
		credential("the key without a scheme", "$KEY"),
		credential("the key with one more character", "Bearer $KEYx"),
		credential("the key with one more character before it", "Bearer x$KEY"),
		changed("the key in the other case", otherCase, `$(printf %s "$PETSTORE_API_KEY" | tr a-zA-Z A-Za-z)`),
		changed("the key with another first character", func(key string) string { return "~" + key[1:] }, "~${PETSTORE_API_KEY#?}"),
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
		bad = append(bad, credential("the token "+word, "Bearer "+word))
	}
	// A key may have a character that another one stands for.
	return slices.DeleteFunc(bad, func(c wire.Credential) bool { return c.Value != nil && c.Value(key) == validKey.Value(key) })
}

// notASCII are credentials with letters outside ASCII, and with bytes that are not
// UTF-8. HTTP allows them in a field, and a server that expects none may respond 400.
var notASCII = []wire.Credential{
	credential("a key with letters outside ASCII", "Bearer clé-ключ"),
	changed("a key with bytes that are not UTF-8", func(string) string { return "\xff\xfe" }, `$(printf '\377\376')`),
}

// otherCase returns s with its upper-case letters in lower case, and the reverse.
func otherCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// secrets returns what bad credentials make of the key.
func secrets(key string) []string {
	var all []string
	for _, c := range badCredentials(key) {
		if strings.Contains(c.Shell, "PETSTORE_API_KEY") {
			value := c.Value(key)
			all = append(all, value[strings.LastIndexByte(value, ' ')+1:])
		}
	}
	return all
}
