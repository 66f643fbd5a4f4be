package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// Coding returns the content coding of the response, in lower case: "" for none.
func (x *Exchange) Coding() string {
	coding := strings.TrimPrefix(strings.ToLower(x.Header.Get("Content-Encoding")), "x-")
	if coding == "identity" {
		return ""
	}
	return coding
}

// Accepts reports whether the response to r may have a content coding. Without
// Accept-Encoding it may have any (RFC 9110, section 12.5.3).
func (r Request) Accepts(coding string) bool {
	accepted := r.Fields()["Accept-Encoding"]
	return accepted == "" || strings.Contains(accepted, coding) && !strings.Contains(accepted, coding+";q=0")
}

// Unreadable reports whether the response is too large, or has a content coding that the
// request accepts and this package does not know.
func (x *Exchange) Unreadable() bool {
	if len(x.Body) > maxBody {
		return true
	}
	switch x.Coding() {
	case "", "gzip":
		return false
	}
	return len(x.Body) > 0 && x.Request.Accepts(x.Coding())
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
	case x.Request.Accepts(x.Coding()):
		return fmt.Errorf("the body cannot be decompressed: %w", err)
	}
	return nil
}
