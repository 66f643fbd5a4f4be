package conformance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

// exchange is a request and the response to it, as they were sent and received.
type exchange struct {
	request  request
	url      string
	proto    string // such as HTTP/1.1
	status   int    // 0: no response
	header   http.Header
	body     []byte
	err      error // why there is no response
	sent     time.Time
	received time.Time // when the whole response was there
	try      int       // how often the request was sent, this time included; 0: it was not sent
}

func (x *exchange) succeeded() bool { return x.status >= 200 && x.status <= 299 }

// refused reports whether the status is a 4xx that is about this request.
func (x *exchange) refused() bool { return x.status >= 400 && x.status <= 499 && !x.unavailable() }

// unavailable reports whether the target serves no requests now.
func (x *exchange) unavailable() bool {
	return slices.Contains([]int{429, 502, 503, 504, 507}, x.status)
}

func (x *exchange) served() bool { return x.status != 0 && !x.unavailable() }

// judgeable reports whether x was served, and its response can be judged: it is not too large, and
// has no content coding that the request accepts and this package does not know.
func (x *exchange) judgeable() bool {
	unknown := x.coding() != "" && x.coding() != "gzip" && len(x.body) > 0 && x.request.accepts(x.coding())
	return x.served() && len(x.body) <= maxBody && !unknown
}

// maxBody limits the response bodies that are read: a hundred pets of 80 KiB.
const maxBody = 8 << 20

// statusLine returns the status in words, as in 404 Not Found, or why there is no response.
func (x *exchange) statusLine() string {
	if x.err != nil {
		return x.err.Error()
	}
	return statusLine(x.status)
}

func statusLine(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// isJSON reports whether the response is declared to be JSON, with any parameters.
func (x *exchange) isJSON() bool {
	media, _, _ := mime.ParseMediaType(x.header.Get("Content-Type"))
	return media == "application/json"
}

// coding returns the content coding of the response, in lower case: "" for none.
func (x *exchange) coding() string {
	coding := strings.TrimPrefix(strings.ToLower(x.header.Get("Content-Encoding")), "x-")
	if coding == "identity" {
		return ""
	}
	return coding
}

// decompress replaces the body of x by what it is without gzip. A body that
// cannot be decompressed stays as it is if the request does not accept the coding: its
// client may not try.
func (x *exchange) decompress() error {
	if len(x.body) == 0 || len(x.body) > maxBody || x.coding() != "gzip" {
		return nil
	}
	var plain []byte
	r, err := gzip.NewReader(bytes.NewReader(x.body))
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(r, maxBody+1))
	}
	switch {
	case err == nil:
		x.body = plain
	case x.request.accepts(x.coding()):
		return fmt.Errorf("the body cannot be decompressed: %w", err)
	}
	return nil
}
