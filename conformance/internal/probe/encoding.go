package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
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
	accepted := slices.IndexFunc(r.Fields(), func(f Field) bool { return strings.EqualFold(f.Name, "Accept-Encoding") })
	return accepted < 0 || strings.Contains(r.Fields()[accepted].Value, coding)
}

// Unreadable reports whether the response has a content coding that the request
// accepts and this package does not know.
func (x *Exchange) Unreadable() bool {
	return x.Coding() != "" && x.Coding() != "gzip" && len(x.Body) > 0 && x.Request.Accepts(x.Coding())
}

// decompress replaces the body of x by what it is without gzip.
func (x *Exchange) decompress() error {
	if x.Coding() != "gzip" || len(x.Body) == 0 {
		return nil
	}
	plain, err := gzip.NewReader(bytes.NewReader(x.Body))
	if err == nil {
		x.Body, err = io.ReadAll(io.LimitReader(plain, maxBody))
	}
	if err != nil {
		return fmt.Errorf("the body cannot be decompressed: %w", err)
	}
	return nil
}
