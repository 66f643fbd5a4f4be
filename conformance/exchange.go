package conformance

import (
	"fmt"
	"slices"
	"strings"

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
	show := func(s string) string { return probe.Cut(redact.Show(s), proofBody) } // a key that was cut first would be left in part
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
	for _, f := range x.Request.Fields() {
		e.RequestHeader = append(e.RequestHeader, Field(f))
	}
	for name, values := range x.Header {
		for _, v := range values {
			e.ResponseHeader = append(e.ResponseHeader, Field{show(name), show(v)})
		}
	}
	slices.SortFunc(e.ResponseHeader, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	if x.Err != nil {
		e.Error = redact.Show(x.Err.Error())
	}
	return e
}

// String returns the curl command that sends the request, and the response, its lines
// after "<".
func (e Exchange) String() string {
	var b strings.Builder
	b.WriteString(e.Curl + "\n")
	if e.Attempts > 1 {
		fmt.Fprintf(&b, "(sent %d times; this is the last)\n", e.Attempts)
	}
	if e.Error != "" {
		return b.String() + "< no response: " + e.Error + "\n"
	}
	response := e.Proto + " " + probe.StatusLine(e.Status)
	for _, f := range e.ResponseHeader {
		response += "\n" + f.Name + ": " + f.Value
	}
	for line := range strings.SplitSeq(response+"\n\n"+e.ResponseBody, "\n") {
		b.WriteString(strings.TrimRight("< "+line, " \r") + "\n")
	}
	return b.String()
}
