package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Exchange is a request and the response to it, as they were sent and received.
type Exchange struct {
	Status   int // 0: no response, or not the whole one
	Header   http.Header
	Body     []byte
	Err      error // why the status is 0
	Sent     time.Time
	Received time.Time // when the whole response was there

	// Start and End number what a client sends and receives: a clock can be too coarse to tell
	// which was first.
	Start, End int64

	request Request
	proto   string // such as HTTP/1.1
}

// Succeeded reports whether the status is a 2xx.
func (x *Exchange) Succeeded() bool { return x.Status >= 200 && x.Status <= 299 }

// Readable reports whether the body can be read: it is not too large, and has no content coding that the
// request accepts and this package does not know.
func (x *Exchange) Readable() bool {
	unknown := x.Coding() != "" && x.Coding() != "gzip" && len(x.Body) > 0 && x.request.Accepts(x.Coding())
	return len(x.Body) <= maxBody && !unknown
}

// maxBody limits the response bodies that are read: a hundred pets of 80 KiB.
const maxBody = 8 << 20

// StatusLine returns the status in words, as in 404 Not Found, or why there is no response.
func (x *Exchange) StatusLine() string {
	if x.Err != nil {
		return x.Err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", x.Status, http.StatusText(x.Status)))
}

// Unreachable reports whether no connection could be made.
func (x *Exchange) Unreachable() bool {
	oe, ok := errors.AsType[*net.OpError](x.Err)
	return ok && oe.Op == "dial" || x.Err != nil && strings.Contains(x.Err.Error(), "tls:")
}

// IsJSON reports whether the response is declared to be JSON, with any parameters.
func (x *Exchange) IsJSON() bool {
	media, _, _ := mime.ParseMediaType(x.Header.Get("Content-Type"))
	return media == "application/json"
}

// Coding returns the content coding of the response, in lower case: "" for none.
func (x *Exchange) Coding() string {
	coding := strings.TrimPrefix(strings.ToLower(x.Header.Get("Content-Encoding")), "x-")
	if coding == "identity" {
		return ""
	}
	return coding
}

// decompress replaces the body of x by what it is without gzip. A body that
// cannot be decompressed stays as it is if the request does not accept the coding: its
// client may not try.
func (x *Exchange) decompress() error {
	if len(x.Body) == 0 || len(x.Body) > maxBody || x.Coding() != "gzip" {
		return nil
	}
	var plain []byte
	r, err := gzip.NewReader(bytes.NewReader(x.Body))
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(r, maxBody+1))
	}
	switch {
	case err == nil:
		x.Body = plain
	case x.request.Accepts(x.Coding()):
		return fmt.Errorf("the body cannot be decompressed: %w", err)
	}
	return nil
}

// hasNext reports whether x says that there is a further page: by a link (contract,
// section 4.1), or by another field. A target that uses another field must not be accused
// of having lost the pets of its further pages.
func (x *Exchange) hasNext() bool {
	for name, values := range x.Header {
		value := strings.Join(values, ",")
		if name == "Link" && relNext.MatchString(value) || namedNext.MatchString(name) && value != "" {
			return true
		}
	}
	return false
}

var (
	relNext = regexp.MustCompile(`(?i)\brel\s*=\s*["']?[^"';,]*\bnext`)

	// namedNext matches names of header fields such as X-Next-Page and Next-Cursor.
	namedNext = regexp.MustCompile(
		`(?i)^(x-)?(pagination-)?(next|cursor)(-(page|cursor|token|page-token|link|url|id|offset))?$`)
)
