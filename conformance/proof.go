package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
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
	show := func(s string) string { return cut(r.show(s), 16<<10) }
	p := &Proof{
		Method: x.request.method, URL: x.url, RequestHeader: make(http.Header), RequestBody: cut(printable(string(x.request.body)), 16<<10),
		Status: x.status, ResponseHeader: make(http.Header), ResponseBody: show(string(x.body)), Curl: x.curl(),
	}
	if c := x.request.credential; c.value != nil {
		p.RequestHeader.Set("Authorization", c.shown())
	}
	for name, value := range x.request.header {
		p.RequestHeader.Set(name, value)
	}
	for name, values := range x.header {
		for _, v := range values {
			p.ResponseHeader[show(name)] = append(p.ResponseHeader[show(name)], show(v))
		}
	}
	if x.err != nil {
		p.Error = show(x.err.Error())
	}
	return p
}

// String returns the curl command that sends the request, and the response, its lines
// after "<".
func (p *Proof) String() string {
	if p.Error != "" {
		return p.Curl + "\n< no response: " + p.Error + "\n"
	}
	response := statusLine(p.Status)
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
