package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"example.com/animalstore/petstore"
)

// request is what a call sends, perhaps several times.
type request struct {
	base, path, query string
	status            int    // of success; 0: any from 200 to 299
	body              []byte // nil for a read
	key               string // the idempotency key; "" for a read
	deprecated        bool   // a response may say so
}

func (r *request) method() string {
	if r.body == nil {
		return http.MethodGet
	}
	return http.MethodPost
}

func (r *request) url() string {
	if r.query == "" {
		return r.base + r.path
	}
	return r.base + r.path + "?" + r.query
}

// newHTTP returns r as an [http.Request], and its body, nil for a read.
func (c *Client) newHTTP(ctx context.Context, r *request) (*http.Request, *sentBody, error) {
	req, err := http.NewRequestWithContext(ctx, r.method(), r.url(), nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.opts.UserAgent)
	if r.body == nil {
		return req, nil, nil
	}
	body := &sentBody{}
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(bodyReader{body, bytes.NewReader(r.body)}), nil
	}
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(r.body))
	req.Header.Set("Content-Type", "application/json")
	// The name is in lower case, since an http.Transport that finds
	// "Idempotency-Key" repeats the request by itself after it lost the
	// connection. As it is, it repeats only what it knows was not carried out.
	req.Header["idempotency-key"] = []string{quoteKey(r.key)}
	return req, body, nil
}

// sentBody knows whether a request's body was sent. A server cannot have carried
// out a create of which it received no body, so this is certain with every
// http.RoundTripper.
type sentBody struct {
	state atomic.Int32
}

const (
	bodyUntouched = iota
	bodyRead      // perhaps sent
	bodyWithheld  // not sent, and never will be
)

// withheld reports whether the body was not sent. Then it cannot be any more.
// A read has no body.
func (b *sentBody) withheld() bool {
	return b == nil || b.state.CompareAndSwap(bodyUntouched, bodyWithheld) || b.state.Load() == bodyWithheld
}

// bodyReader reads a sentBody.
type bodyReader struct {
	*sentBody
	r io.Reader
}

func (b bodyReader) Read(p []byte) (int, error) {
	b.state.CompareAndSwap(bodyUntouched, bodyRead)
	if b.state.Load() == bodyWithheld {
		return 0, errors.New("client: the request is over")
	}
	return b.r.Read(p)
}

// maxKeyBytes is the longest idempotency key that the servers of this module
// accept.
const maxKeyBytes = 255

// idempotencyKey returns the key for once: see [Client.CreatePet].
func idempotencyKey(once petstore.Once, operation string) string {
	switch {
	case once.IsZero():
		return rand.Text()
	case once.Scope == "" && len(once.Key) <= maxKeyBytes && visibleASCII(once.Key):
		return once.Key
	}
	digest := once.Digest(operation)
	return hex.EncodeToString(digest[:])
}

var escapeKey = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoteKey returns key as the Idempotency-Key field has it: a String of RFC 9651.
func quoteKey(key string) string { return `"` + escapeKey.Replace(key) + `"` }
