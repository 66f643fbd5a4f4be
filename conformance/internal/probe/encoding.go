package probe

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
)

// acceptsGzip reports whether the response to r may be compressed with gzip: if
// the request says so, or has no Accept-Encoding (RFC 9110, section 12.5.3).
func (r Request) acceptsGzip() bool {
	return slices.ContainsFunc(r.Header, func(f Field) bool {
		return f.Name == "Accept-Encoding" && (f.Value == "" || strings.Contains(f.Value, "gzip"))
	})
}

// decompress replaces the body of x by what it is without gzip, if the request
// allowed that coding.
func (x *Exchange) decompress() error {
	coding := strings.TrimPrefix(strings.ToLower(x.Header.Get("Content-Encoding")), "x-")
	if coding != "gzip" || !x.Request.acceptsGzip() || len(x.Body) == 0 {
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
