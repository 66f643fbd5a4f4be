package client

import (
	"slices"
	"strings"
)

// nextLink returns the target of the first link with the relation next in the Link
// fields of a response (RFC 8288, section 3). It ignores links with an anchor,
// which belong to another page, and everything after a syntax error.
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

// cutLink returns the target and the parameters of the first link of s, and the
// rest of s. The names of parameters are in lower case. If s has a parameter twice,
// cutLink returns the first one.
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

// cutValue returns the token or quoted string at the beginning of s, and the rest
// of s.
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
	return "", "" // the quoted string does not end
}

func trimSpace(s string) string { return strings.Trim(s, " \t") }
