package petstoretest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// These difficulties change the form of responses.

func messageStatus(x *exchange, r *rand.Rand) bool {
	if x.status != http.StatusAccepted {
		return false
	}
	x.status = http.StatusOK + r.IntN(2)
	return true
}

func unknownCode(x *exchange, r *rand.Rand) bool {
	codes := []string{`"E-4711"`, `"petstore.fault/7"`, `"Unbekannt"`, `"INVALID"`}
	return x.status >= 400 && x.edit(func(members []member) []member {
		for i := range members {
			if members[i].name == `"code"` {
				members[i].value = codes[r.IntN(len(codes))]
			}
		}
		return members
	})
}

func extraMembers(x *exchange, r *rand.Rand) bool {
	extra := []member{
		{`"_links"`, `{"self":[1,2]}`},
		{`"kind"`, `"thing"`},
		{`"error"`, `null`},
		{`"owner"`, `{"id":0,"name":"nobody","status":"lost"}`},
	}
	return x.edit(func(members []member) []member {
		n := r.IntN(len(extra) + 1)
		return append(append(append([]member{}, extra[:n]...), members...), extra[n:]...)
	})
}

func memberOrder(x *exchange, r *rand.Rand) bool {
	return x.edit(func(members []member) []member {
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return members
	})
}

var jsonString = regexp.MustCompile(`"([^"\\]|\\.)*"`)

func escapes(x *exchange, _ *rand.Rand) bool {
	if !x.isJSON() {
		return false
	}
	x.response = jsonString.ReplaceAllFunc(x.response, func(s []byte) []byte {
		text, _ := jsontext.AppendUnquote(nil, s)
		escaped := []byte{'"'}
		for _, unit := range utf16.Encode([]rune(string(text))) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
		return append(escaped, '"')
	})
	return true
}

func whiteSpace(x *exchange, _ *rand.Rand) bool {
	body := jsontext.Value(x.response)
	if !x.isJSON() || body.Indent() != nil {
		return false
	}
	x.response = slices.Concat([]byte("\r\n\t "), body, []byte(" \n\n"))
	return true
}

func chunked(x *exchange, _ *rand.Rand) bool {
	x.chunked = len(x.response) > 0
	return x.chunked
}

func connectionClose(x *exchange, _ *rand.Rand) bool {
	x.header.Set("Connection", "close")
	return true
}
