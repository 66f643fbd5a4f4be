package client

import (
	"slices"
	"strings"
)

// nextLink returns the target of the first link whose relation is next, in the
// Link fields of a response (RFC 8288, section 3). A link with an anchor belongs
// to another page, so it does not count. Nothing after a syntax error counts.
func nextLink(fields []string) (target string, ok bool) {
	for _, field := range fields {
		for rest := field; ; {
			var params map[string]string
			target, params, rest, ok = cutLink(rest)
			if !ok {
				break
			}
			_, anchored := params["anchor"]
			if !anchored && slices.Contains(strings.Fields(strings.ToLower(params["rel"])), "next") {
				return target, true
			}
		}
	}
	return "", false
}

// cutLink returns the first link of s, its parameters with their names in lower
// case, and what follows. Of a parameter given twice the first counts.
func cutLink(s string) (target string, params map[string]string, rest string, ok bool) {
	s, ok = strings.CutPrefix(strings.TrimLeft(s, ", \t"), "<")
	if !ok {
		return "", nil, "", false
	}
	if target, rest, ok = strings.Cut(s, ">"); !ok {
		return "", nil, "", false
	}
	params = map[string]string{}
	for {
		rest = trimSpace(rest)
		if rest, ok = strings.CutPrefix(rest, ";"); !ok {
			return target, params, rest, true
		}
		end := strings.IndexAny(rest+";", "=;,")
		name := strings.ToLower(trimSpace(rest[:end]))
		rest = rest[end:]
		value := ""
		if after, ok := strings.CutPrefix(rest, "="); ok {
			value, rest = cutValue(trimSpace(after))
		}
		if _, twice := params[name]; !twice {
			params[name] = value
		}
	}
}

// cutValue returns the token or quoted string that s begins with, and what
// follows.
func cutValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s+";", ";, \t")
		return s[:end], s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "" // the quote does not end
}

func trimSpace(s string) string { return strings.Trim(s, " \t") }
