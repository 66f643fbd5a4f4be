package httpapi_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON is a naive parser of RFC 8259 as the handler wants it: one value,
// no name twice, valid UTF-8, no lone surrogate. It shares no code with the
// one that it judges.
func parseJSON(s string) (value any, ok bool) {
	if !utf8.ValidString(s) {
		return nil, false
	}
	p := &parser{rest: s}
	defer func() {
		switch v := recover(); v {
		case nil:
		case errSyntax:
			value, ok = nil, false
		default:
			panic(v)
		}
	}()
	v := p.value(0)
	p.space()
	return v, p.rest == ""
}

type parser struct{ rest string }

var errSyntax any = "syntax"

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take takes prefix off the rest, if it is there.
func (p *parser) take(prefix string) bool {
	var ok bool
	p.rest, ok = strings.CutPrefix(p.rest, prefix)
	return ok
}

func (p *parser) must(prefix string) {
	if !p.take(prefix) {
		panic(errSyntax)
	}
}

var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

func (p *parser) value(depth int) any {
	if depth > 10_000 {
		panic(errSyntax)
	}
	p.space()
	switch {
	case p.take("null"):
		return nil
	case p.take("true"):
		return true
	case p.take("false"):
		return false
	case p.take("["):
		return p.array(depth)
	case p.take("{"):
		return p.object(depth)
	case strings.HasPrefix(p.rest, `"`):
		return p.str()
	}
	n := number.FindString(p.rest)
	if n == "" {
		panic(errSyntax)
	}
	p.must(n)
	return json.Number(n)
}

func (p *parser) array(depth int) []any {
	a := []any{}
	if p.space(); p.take("]") {
		return a
	}
	for {
		a = append(a, p.value(depth+1))
		if p.space(); p.take("]") {
			return a
		}
		p.must(",")
	}
}

func (p *parser) object(depth int) map[string]any {
	o := map[string]any{}
	if p.space(); p.take("}") {
		return o
	}
	for {
		p.space()
		name := p.str()
		if _, ok := o[name]; ok {
			panic(errSyntax)
		}
		p.space()
		p.must(":")
		o[name] = p.value(depth + 1)
		if p.space(); p.take("}") {
			return o
		}
		p.must(",")
	}
}

func (p *parser) str() string {
	p.must(`"`)
	var b strings.Builder
	for !p.take(`"`) {
		r, n := utf8.DecodeRuneInString(p.rest)
		if n == 0 || r < ' ' {
			panic(errSyntax)
		}
		p.rest = p.rest[n:]
		if r == '\\' {
			r = p.escape()
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (p *parser) escape() rune {
	if p.rest == "" {
		panic(errSyntax)
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i])
	}
	if c != 'u' {
		panic(errSyntax)
	}
	r := p.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	p.must(`\u`)
	if r = utf16.DecodeRune(r, p.hex()); r == utf8.RuneError {
		panic(errSyntax)
	}
	return r
}

func (p *parser) hex() rune {
	if len(p.rest) < 4 || strings.Trim(p.rest[:4], "0123456789abcdefABCDEF") != "" {
		panic(errSyntax)
	}
	n, _ := strconv.ParseUint(p.rest[:4], 16, 16)
	p.rest = p.rest[4:]
	return rune(n)
}
