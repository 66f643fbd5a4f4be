package httpapi_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func TestCredential(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")

	const plain = `Bearer realm="petstore"`
	const invalid = `Bearer realm="petstore", error="invalid_token"`
	refused := func(challenge string) want {
		return want{status: 401, code: "unauthorized", says: "API key",
			header: map[string]string{"Www-Authenticate": challenge}}
	}
	ok := want{status: 200}

	for _, c := range []struct {
		name   string
		fields []string
		want   want
	}{
		{"none", nil, refused(plain)},
		{"empty", []string{"Authorization:"}, refused(plain)},
		{"spaces only", []string{"Authorization:    "}, refused(plain)},
		{"scheme only", []string{"Authorization: Bearer"}, refused(plain)},
		{"empty token", []string{"Authorization: Bearer   "}, refused(plain)},
		{"key without scheme", []string{"Authorization: key-1"}, refused(plain)},
		{"basic", []string{"Authorization: Basic a2V5LTE6"}, refused(plain)},
		{"scheme runs into token", []string{"Authorization: Bearerkey-1"}, refused(plain)},
		{"colon", []string{"Authorization: Bearer: key-1"}, refused(plain)},
		{"equals sign", []string{"Authorization: Bearer=key-1"}, refused(plain)},
		{"tab after scheme", []string{"Authorization: Bearer\tkey-1"}, refused(plain)},
		{"unknown", []string{"Authorization: Bearer nope"}, refused(invalid)},
		{"other case", []string{"Authorization: Bearer KEY-1"}, refused(invalid)},
		{"prefix of a key", []string{"Authorization: Bearer key-"}, refused(invalid)},
		{"key and more", []string{"Authorization: Bearer key-1 key-1"}, refused(invalid)},
		{"key and comma", []string{"Authorization: Bearer key-1,"}, refused(invalid)},
		{"quoted", []string{`Authorization: Bearer "key-1"`}, refused(invalid)},
		{"tab in token", []string{"Authorization: Bearer key-1\tx"}, refused(invalid)},
		{"tab before token", []string{"Authorization: Bearer \tkey-1"}, refused(invalid)},
		{"beyond ASCII", []string{"Authorization: Bearer key-1\xc3\xa9"}, refused(invalid)},
		{"very long", []string{"Authorization: Bearer " + strings.Repeat("x", 60000)}, refused(invalid)},
		{"two fields", []string{authorized, authorized}, refused(invalid)},
		{"two fields, one wrong", []string{authorized, "Authorization: Bearer nope"}, refused(invalid)},
		{"two fields, one of another scheme", []string{"Authorization: Basic eA==", authorized}, refused(invalid)},
		{"two fields, both of another scheme", []string{"Authorization: Basic eA==", "Authorization: Digest x"}, refused(plain)},
		{"proxy's field", []string{"Proxy-Authorization: Bearer key-1"}, refused(plain)},
		{"folded line", []string{"Authorization: Bearer\r\n key-1"}, ok},
		{"good", []string{authorized}, ok},
		{"another key", []string{"Authorization: Bearer key-3"}, ok},
		{"scheme in lower case", []string{"Authorization: bearer key-1"}, ok},
		{"scheme in upper case", []string{"Authorization: BEARER key-1"}, ok},
		{"several spaces", []string{"Authorization: Bearer   key-1"}, ok},
		{"white space around", []string{"Authorization: \t Bearer key-1 \t "}, ok},
		{"field name in lower case", []string{"authorization: Bearer key-1"}, ok},
	} {
		s.run([]rawCase{
			{"list, " + c.name, request("GET /pets", c.fields...), c.want},
			{"get, " + c.name, request("GET /pets/1", c.fields...), c.want},
		})
	}
}

// TestCredentialFirst: without a valid key a request learns only whether the path
// and method exist.
func TestCredentialFirst(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	refused := want{status: 401, code: "unauthorized"}
	nope := "Authorization: Bearer nope"
	s.run([]rawCase{
		{"pet that exists", request("GET /pets/1"), refused},
		{"pet that does not", request("GET /pets/2"), refused},
		{"invalid ID", request("GET /pets/abc"), refused},
		{"bad parameter", request("GET /pets?limit=0", nope), refused},
		{"malformed query", request("GET /pets?%zz", nope), refused},
		{"bad cursor", request("GET /pets?cursor=x", nope), refused},
		{"no Content-Type", postBare("/pets", "{}", nope), refused},
		{"bad body", postBare("/pets", "{", nope, isJSON), refused},
		{"good body", postBare("/pets", `{"name":"a","categoryId":1}`, nope, isJSON), refused},
		{"bad idempotency key", postBare("/pets", "{}", nope, isJSON, "Idempotency-Key:"), refused},
		{"large body", postBare("/pets", strings.Repeat(" ", 2<<20), nope, isJSON), refused},
		{"message", postBare("/messages", `{"message":"m"}`, nope, isJSON), refused},
		{"message without key", postBare("/messages", `{"message":"m"}`, isJSON), refused},
		{"unknown path", request("GET /cats"), want{status: 404, code: "not_found", says: "path"}},
		{"unknown method", request("PUT /pets"), want{status: 405, code: "method_not_allowed", says: "method"}},
	})
}

// TestKeysAsked: the authenticator receives only visible ASCII, unchanged.
func TestKeysAsked(t *testing.T) {
	var asked recorder[string]
	anyone := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		asked.add(key)
		return "anyone", nil
	})
	addr := listen(t, newHandler(memory.New(nil), anyone, nil))
	for token, status := range map[string]int{
		"k": 200, "a:b~!\"\\": 200, "k=": 200, strings.Repeat("k", 10_000): 200,
		"": 401, "  ": 401, "a b": 401, "a\tb": 401, "\ta": 401, "é": 401, "a\xff": 401,
	} {
		a := send(t, addr, request("GET /pets", "Authorization: Bearer "+token))
		if a.status != status {
			t.Errorf("token %.100q: status %d, want %d", token, a.status, status)
		}
		want := []string{token}
		if status != 200 {
			want = nil
		}
		if got := asked.take(); !slices.Equal(got, want) {
			t.Errorf("token %.100q: asked for %.100q", token, got)
		}
	}
}
