package conformance_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// brokenTexts are servers that change the names of pets. TestTexts has more changes.
func brokenTexts() []variant {
	return []variant{
		{name: "names lose the spaces at their ends", check: "pets.create.name", pets: changesNames(strings.TrimSpace)},
		{name: "names are cut at 255 bytes", check: "pets.create.name", pets: changesNames(cut(255))},
		{name: "a character that crosses 8 KiB of the body is lost", check: "pets.create.name", http: requests(create, func(r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			n := min(len(b), 8<<10)
			s := strings.ToValidUTF8(string(b[:n]), "??") + strings.ToValidUTF8(string(b[n:]), "?")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(s)), int64(len(s))
		})},
	}
}

// cut returns a function that cuts texts at n bytes.
func cut(n int) func(string) string {
	return func(s string) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
}

// A change that servers make to texts changes one of those that a run sends.
func TestTexts(t *testing.T) {
	for what, change := range map[string]func(string) string{
		"become lower case":                   strings.ToLower,
		"end at a NUL":                        replace(`\x00.*`, ""),
		"lose control characters":             replace(`[\x01-\x1f]`, ""),
		"have their line ends changed":        replace(`\r\n`, "\n"),
		"have spaces for tabs":                replace(`a\tb`, "a    b"),
		"are cut at 1,000 bytes":              cut(1000),
		"are escaped for HTML":                strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace,
		"lose their markup":                   replace(`</?b>`, ""),
		"are decoded like a URL":              replace(`%20|\+`, " "),
		"lose leading zeros":                  replace(`^0+`, ""),
		"have their quotes doubled":           replace(`'`, "''"),
		"lose backslashes":                    replace(`\\`, ""),
		"are normalized":                      strings.NewReplacer("e\u0301", "é", "A\u030a", "Å", "\u212b", "Å").Replace,
		"lose what is not Latin":              replace(`[\x{250}-\x{FFFF}]`, "?"),
		"lose what is beyond the basic plane": replace(`[\x{10000}-\x{10FFFF}]`, "?"),
		"are decoded like a URL if that is possible": func(s string) string {
			if decoded, err := url.QueryUnescape(s); err == nil {
				return decoded
			}
			return s
		},
		"become doubles":                       replace(`^12345678901234567890$`, "12345678901234567000"),
		"become empty if they are null":        replace(`^null$`, ""),
		"become booleans":                      replace(`^no$`, "false"),
		"become members that every object has": replace(`^constructor$`, "function Object() { [native code] }"),
		"lose zeros at the end":                replace(`^1\.10$`, "1.1"),
		"become [object Object]":               replace(`^\{.*\}$`, "[object Object]"),
		"have placeholders filled in":          replace(`\$\{name\}`, "Rex"),
		"lose the joiners of emoji":            replace("^👩\u200d👩\u200d", "👩👩"),
		"lose the direction":                   replace("\u202e", ""),
		"lose soft hyphens":                    replace("\u00ad", ""),
		"lose a byte order mark":               replace("\ufeff", ""),
		"lose noncharacters":                   replace("[\ufffe\uffff]", "\ufffd"),
	} {
		if !slices.ContainsFunc(conformance.Texts("Confabcdef"), func(s string) bool { return change(s) != s }) {
			t.Errorf("no text shows that they %s", what)
		}
	}
}

func changesNames(change func(string) string) func(*store) {
	return creates(func(n *petstore.NewPet) { n.Name = change(n.Name) })
}

// storesTwice is a store that adds every fifth pet twice.
func storesTwice(s *store) {
	create := s.DoCreatePet
	var n atomic.Int64
	s.DoCreatePet = func(ctx context.Context, pet petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
		if n.Add(1)%5 == 0 {
			_, _ = create(ctx, pet, petstore.IdempotencyKey{})
		}
		return create(ctx, pet, key)
	}
}
