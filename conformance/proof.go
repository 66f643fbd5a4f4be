package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/wire"
)

// Proof is a request and the response to it, without the API key and with
// long bodies cut.
type Proof struct {
	Method         string      `json:"method"`
	URL            string      `json:"url"`
	RequestHeader  http.Header `json:"requestHeader"`
	RequestBody    string      `json:"requestBody,omitzero"`
	Status         int         `json:"status,omitzero"` // 0: no response
	ResponseHeader http.Header `json:"responseHeader,omitempty"`
	ResponseBody   string      `json:"responseBody,omitzero"`

	// Error says why there is no response.
	Error string `json:"error,omitzero"`

	// Curl is a shell command that sends the same request. It takes the key
	// from the environment variable PETSTORE_API_KEY.
	Curl string `json:"curl"`
}

// proof returns x for a report.
func (r *run) proof(x *exchange) *Proof {
	show := func(s string) string { return wire.Cut(r.client.Show(s), 16<<10) }
	p := &Proof{
		Method: x.request.Method, URL: x.request.URL, RequestHeader: make(http.Header), RequestBody: show(string(x.request.Body)),
		Status: x.Status, ResponseHeader: make(http.Header), ResponseBody: show(string(x.Body)), Curl: x.Curl(),
	}
	if c := x.request.Credential; c.Value != nil {
		p.RequestHeader.Set("Authorization", c.Shown())
	}
	for name, value := range x.request.Fields() {
		p.RequestHeader.Set(name, value)
	}
	for name, values := range x.Header {
		for _, v := range values {
			p.ResponseHeader[show(name)] = append(p.ResponseHeader[show(name)], show(v))
		}
	}
	if x.Err != nil {
		p.Error = show(x.Err.Error())
	}
	return p
}

// String returns the curl command that sends the request, and the response, its lines
// after "<".
func (p *Proof) String() string {
	if p.Error != "" {
		return p.Curl + "\n< no response: " + p.Error + "\n"
	}
	response := (&wire.Exchange{Status: p.Status}).StatusLine()
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
