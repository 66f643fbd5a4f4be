package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/animalstore/conformance/internal/probe"
)

// Exchange is a request and the response to it, without the API key and with
// long bodies cut.
type Exchange struct {
	Method         string  `json:"method"`
	URL            string  `json:"url"`
	Operation      string  `json:"operation"` // as in GET /pets/{petId}
	RequestHeader  []Field `json:"requestHeader"`
	RequestBody    string  `json:"requestBody,omitzero"`
	Proto          string  `json:"proto,omitzero"`
	Status         int     `json:"status,omitzero"` // 0: no response
	ResponseHeader []Field `json:"responseHeader,omitzero"`
	ResponseBody   string  `json:"responseBody,omitzero"`

	// Error says why there is no response.
	Error string `json:"error,omitzero"`

	// Attempts is how often the request was sent: more than once if the target
	// asked to try again.
	Attempts int `json:"attempts"`

	// Curl is a shell command that sends the same request. It takes the key
	// from the environment variable PETSTORE_API_KEY.
	Curl string `json:"curl"`
}

// Field is a field of a header.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// proofBody is how many bytes of a body a report has.
const proofBody = 16 << 10

// newExchange returns x for a report.
func newExchange(x *probe.Exchange, redact probe.Redactor) Exchange {
	const limit = proofBody
	show := func(s string) string { return probe.Cut(redact.Show(s), limit) } // a key that was cut first would be left in part
	e := Exchange{
		Method:       x.Request.Method,
		URL:          redact.Show(x.URL),
		Operation:    x.Request.Operation(),
		RequestBody:  show(string(x.Request.Body)),
		Proto:        x.Proto,
		Status:       x.Status,
		ResponseBody: show(string(x.Body)),
		Attempts:     x.Attempts,
		Curl:         x.Curl(redact),
	}
	if x.Request.Credential.Sent() {
		e.RequestHeader = append(e.RequestHeader, Field{"Authorization", x.Request.Credential.Shown})
	}
	for _, f := range x.RequestFields() {
		e.RequestHeader = append(e.RequestHeader, Field(f))
	}
	for name, values := range x.Header {
		for _, v := range values {
			e.ResponseHeader = append(e.ResponseHeader, Field{show(name), probe.Cut(redact.ShowField(name, v), limit)})
		}
	}
	slices.SortFunc(e.ResponseHeader, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	if x.Err != nil {
		e.Error = redact.Show(x.Err.Error())
	}
	return e
}

// ordinaryText returns text that reports have whatever the target does. It has no
// key, even if the key is one of its words.
var ordinaryText = sync.OnceValue(func() string {
	words := []string{"Authorization: Bearer", "application/json", "petstore-conformance", newPet{}.json()}
	for _, cl := range clauses() {
		words = append(words, cl.Text, cl.Why)
		for _, c := range cl.Checks {
			words = append(words, c.ID, c.Title)
		}
	}
	return strings.Join(words, "\n")
})

// String returns e as a transcript, the lines of the request after ">" and those
// of the response after "<".
func (e Exchange) String() string {
	var b strings.Builder
	lines := func(mark, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight(mark+" "+line, " \r") + "\n")
		}
	}
	message := func(mark, firstLine string, header []Field, body string) {
		lines(mark, firstLine)
		for _, f := range header {
			lines(mark, f.Name+": "+f.Value)
		}
		if body != "" {
			lines(mark, "\n"+body)
		}
	}
	message(">", e.Method+" "+e.URL, e.RequestHeader, e.RequestBody)
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "(sent %d times; this is the last)\n", e.Attempts)
	}
	if e.Error != "" {
		lines("<", "no response: "+e.Error)
	} else {
		message("<", e.Proto+" "+probe.StatusLine(e.Status), e.ResponseHeader, e.ResponseBody)
	}
	return b.String()
}
