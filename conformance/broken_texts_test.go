package conformance_test

import (
	"context"
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/petstore"
)

// brokenTexts are servers that change the names of pets. TestTexts has more changes.
func brokenTexts() []variant {
	return []variant{
		{name: "names lose the spaces at their ends", clause: "name", pets: changesNames(strings.TrimSpace)},
		{name: "names are cut at 255 bytes", clause: "name", pets: changesNames(cut(255))},
		{name: "names become upper case", clause: "name", pets: changesNames(strings.ToUpper)},
		{name: "names are escaped for HTML", clause: "name", pets: changesNames(html.EscapeString)},
	}
}

// cut returns a function that cuts texts at n bytes.
func cut(n int) func(string) string {
	return func(s string) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
}

// A change that servers make to texts changes one of those that a run sends.
func TestTexts(t *testing.T) {
	for what, change := range map[string]func(string) string{
		"lose the spaces at their ends":       strings.TrimSpace,
		"lose repeated spaces":                func(s string) string { return strings.Join(strings.Fields(s), " ") },
		"become lower case":                   strings.ToLower,
		"become upper case":                   strings.ToUpper,
		"end at a NUL":                        replace(`\x00.*`, ""),
		"lose control characters":             replace(`[\x01-\x1f]`, ""),
		"have their line ends changed":        replace(`\r\n`, "\n"),
		"end at a line break":                 replace(`a\n.*`, "a"),
		"have spaces for tabs":                replace(`a\tb`, "a    b"),
		"are cut at 255 bytes":                cut(255),
		"are cut at 1,000 bytes":              cut(1000),
		"are escaped for HTML":                strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace,
		"lose their markup":                   replace(`</?b>`, ""),
		"are decoded like a URL":              replace(`%20|\+`, " "),
		"lose leading zeros":                  replace(`^0+`, ""),
		"have their quotes doubled":           replace(`'`, "''"),
		"lose backslashes":                    replace(`\\`, ""),
		"lose a backslash at the end":         replace(`\\$`, ""),
		"are normalized":                      strings.NewReplacer("e\u0301", "é", "A\u030a", "Å", "\u212b", "Å").Replace,
		"lose what is not Latin":              replace(`[\x{250}-\x{FFFF}]`, "?"),
		"lose what is beyond the basic plane": replace(`[\x{10000}-\x{10FFFF}]`, "?"),
		"lose what is not in Latin 1":         replace(`[™…•–—‘’“”„€]`, "?"),
		"are decoded like a URL if that is possible": func(s string) string {
			if decoded, err := url.QueryUnescape(s); err == nil {
				return decoded
			}
			return s
		},
		"become numbers if they look like one": replace(`^4711$`, "4711.0"),
		"become doubles":                       replace(`^12345678901234567890$`, "12345678901234567000"),
		"become empty if they are null":        replace(`^null$`, ""),
		"become booleans":                      replace(`^no$`, "false"),
		"become members that every object has": replace(`^constructor$`, "function Object() { [native code] }"),
		"become numbers without exponents":     replace(`^1e3$`, "1000"),
		"lose zeros at the end":                replace(`^1\.10$`, "1.1"),
		"become times if they are dates":       replace(`^(\d{4}-\d\d-\d\d)$`, "${1}T00:00:00Z"),
		"get milliseconds":                     replace(`T12:00:00Z$`, "T12:00:00.000Z"),
		"become empty if they are 0":           replace(`^0$`, ""),
		"lose the quotes around them":          replace(`^"(.*)"$`, "$1"),
		"become [object Object]":               replace(`^\{.*\}$`, "[object Object]"),
		"lose comments":                        replace(`//.*`, ""),
		"lose one of two dollar signs":         replace(`\$\$`, "$$"),
		"have placeholders filled in":          replace(`\$\{name\}`, "Rex"),
		"lose the joiners of emoji":            replace("^👩\u200d👩\u200d", "👩👩"),
		"lose the direction":                   replace("\u202e", ""),
		"lose soft hyphens":                    replace("\u00ad", ""),
		"lose a byte order mark":               replace("\ufeff", ""),
		"lose noncharacters":                   replace("[\ufffe\uffff]", "\ufffd"),
	} {
		if !slices.ContainsFunc(conformance.Texts(), func(s string) bool { return change(s) != s }) {
			t.Errorf("no text shows that they %s", what)
		}
	}
}

func changesNames(change func(string) string) func(*store) {
	return creates(func(n *petstore.NewPet) { n.Name = change(n.Name) })
}

// storesTwice is a store that adds every fifth pet twice.
func storesTwice(s *store) {
	create := s.create
	var n atomic.Int64
	s.create = func(ctx context.Context, pet petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
		if n.Add(1)%5 == 0 {
			_, _ = create(ctx, pet, petstore.Once{})
		}
		return create(ctx, pet, once)
	}
}

// replacesNames is a store that forgets a pet when another gets its name.
func replacesNames(s *store) {
	var newest sync.Map // by name
	create, get := s.create, s.get
	s.create = func(ctx context.Context, n petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
		p, err := create(ctx, n, once)
		newest.Store(p.Name, p.ID)
		return p, err
	}
	s.get = func(ctx context.Context, id int64) (petstore.Pet, error) {
		p, err := get(ctx, id)
		if last, _ := newest.Load(p.Name); err == nil && last != id {
			return petstore.Pet{}, petstore.Errorf(petstore.CodeNotFound, "another pet has the name")
		}
		return p, err
	}
}
