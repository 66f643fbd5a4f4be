package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Proof is a request and the response to it, without the API key and with
// long bodies cut.
type Proof struct {
	Method         string      `json:"method"`
	URL            string      `json:"url"`
	RequestHeader  http.Header `json:"requestHeader"`
	RequestBody    string      `json:"requestBody,omitzero"`
	Status         int         `json:"status,omitzero"` // 0: no response
	ResponseHeader http.Header `json:"responseHeader,omitzero"`
	ResponseBody   string      `json:"responseBody,omitzero"`

	// Error says why there is no response.
	Error string `json:"error,omitzero"`

	// Curl is a shell command that sends the same request. It takes the key
	// from the environment variable PETSTORE_API_KEY.
	Curl string `json:"curl"`
}

// proofBody is how many bytes of a body a report has.
const proofBody = 16 << 10

// newProof returns x for a report.
func newProof(x *probe.Exchange, redact probe.Redactor) *Proof {
	// A key that was cut first would be left in part.
	show := func(s string) string { return probe.Cut(redact.Show(s), proofBody) }
	p := &Proof{
		Method:        x.Request.Method,
		URL:           redact.Show(x.URL),
		RequestHeader: make(http.Header),
		RequestBody:   show(string(x.Request.Body)),
		Status:        x.Status,
		ResponseBody:  show(string(x.Body)),
		Curl:          x.Curl(redact),
	}
	if x.Request.Credential.Sent() {
		p.RequestHeader.Set("Authorization", x.Request.Credential.Shown)
	}
	for name, value := range x.Request.Fields() {
		p.RequestHeader.Set(name, value)
	}
	for name, values := range x.Header {
		for _, v := range values {
			if p.ResponseHeader == nil {
				p.ResponseHeader = make(http.Header)
			}
			p.ResponseHeader[show(name)] = append(p.ResponseHeader[show(name)], show(v))
		}
	}
	if x.Err != nil {
		p.Error = redact.Show(x.Err.Error())
	}
	return p
}

// String returns the curl command that sends the request, and the response, its lines
// after "<".
func (p *Proof) String() string {
	if p.Error != "" {
		return p.Curl + "\n< no response: " + p.Error + "\n"
	}
	response := probe.StatusLine(p.Status)
	for _, name := range slices.Sorted(maps.Keys(p.ResponseHeader)) {
		for _, v := range p.ResponseHeader[name] {
			response += "\n" + name + ": " + v
		}
	}
	text := p.Curl + "\n"
	for line := range strings.SplitSeq(response+"\n\n"+p.ResponseBody, "\n") {
		text += strings.TrimRight("< "+line, " \r") + "\n"
	}
	return text
}
