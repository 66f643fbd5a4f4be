package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// exchange is a request and its answer as they passed.
type exchange struct {
	req      request
	url      string
	proto    string
	status   int // 0: no answer
	header   http.Header
	body     []byte
	err      error
	sent     time.Time
	took     time.Duration
	attempts int
}

// Exchange is a request and its answer as reports show them: without the key,
// and with long bodies cut.
type Exchange struct {
	Method         string  `json:"method"`
	URL            string  `json:"url"`
	RequestHeader  []Field `json:"requestHeader"`
	RequestBody    string  `json:"requestBody,omitzero"`
	Proto          string  `json:"proto,omitzero"`
	Status         int     `json:"status,omitzero"` // 0: no answer
	ResponseHeader []Field `json:"responseHeader,omitzero"`
	ResponseBody   string  `json:"responseBody,omitzero"`

	// Error says why there is no answer.
	Error string `json:"error,omitzero"`

	// Attempts counts the times that it was sent, more than 1 if the target
	// asked to try again.
	Attempts int `json:"attempts"`

	// Curl is a command that sends the same request; it takes the key from
	// the environment variable PETSTORE_API_KEY.
	Curl string `json:"curl"`
}

// Field is a field of a header.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// render returns x for reports, its bodies cut to limit bytes each.
func (x *exchange) render(redact *strings.Replacer, limit int) Exchange {
	show := func(s string) string { return printable(redact.Replace(s)) }
	e := Exchange{
		Method:      x.req.method,
		URL:         show(x.url),
		RequestBody: cut(show(string(x.req.body)), limit),
		Proto:       x.proto,
		Status:      x.status,
		Attempts:    x.attempts,
		Curl:        x.curl(redact),
	}
	if x.req.auth.value != nil {
		e.RequestHeader = append(e.RequestHeader, Field{"Authorization", x.req.auth.shown})
	}
	e.RequestHeader = append(e.RequestHeader, x.req.fields()...)
	for name, values := range x.header {
		for _, v := range values {
			e.ResponseHeader = append(e.ResponseHeader, Field{show(name), cut(show(v), limit)})
		}
	}
	slices.SortFunc(e.ResponseHeader, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	e.ResponseBody = cut(show(string(x.body)), limit)
	if x.err != nil {
		e.Error = show(x.err.Error())
	}
	return e
}

// printable returns s with everything that is no text written as an escape,
// so that no answer can play tricks on a terminal or a page.
func printable(s string) string {
	ok := func(r rune) bool { return r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) }
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !ok(r) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case ok(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// cutMark stands where a text was cut, before what says how much is missing.
const cutMark = "… ["

// cut shortens s to about limit bytes, and says so.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s%s%d bytes more]", s[:n], cutMark, len(s)-n)
}

// String returns x as a transcript: the request's lines after ">", the
// answer's after "<".
func (e Exchange) String() string {
	var b strings.Builder
	lines := func(mark, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight(mark+" "+line, " \r") + "\n")
		}
	}
	lines(">", e.Method+" "+e.URL)
	for _, f := range e.RequestHeader {
		lines(">", f.Name+": "+f.Value)
	}
	if e.RequestBody != "" {
		lines(">", "\n"+e.RequestBody)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "(sent %d times; the last answer follows)\n", e.Attempts)
	}
	if e.Error != "" {
		lines("<", "no answer: "+e.Error)
		return b.String()
	}
	lines("<", fmt.Sprintf("%s %d %s", e.Proto, e.Status, http.StatusText(e.Status)))
	for _, f := range e.ResponseHeader {
		lines("<", f.Name+": "+f.Value)
	}
	if e.ResponseBody != "" {
		lines("<", "\n"+e.ResponseBody)
	}
	return b.String()
}

// statusLine returns what an answer's status was, in words.
func (x *exchange) statusLine() string {
	if x.status == 0 {
		return "no answer"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", x.status, http.StatusText(x.status)))
}
