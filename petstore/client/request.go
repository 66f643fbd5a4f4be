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
	status            int    // of a successful response; 0: any from 200 to 299
	body              []byte // nil for a read
	key               string // the idempotency key; "" for a read
	deprecated        bool   // the response may say that the operation is deprecated
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

// newHTTP returns r as an [http.Request], and the state of its body, which is nil
// for a read.
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
	// The name is in lower case because an http.Transport that finds
	// "Idempotency-Key" repeats the request by itself after a lost connection.
	// Without that name it repeats the request only if it knows that the server
	// has not carried it out.
	req.Header["idempotency-key"] = []string{quoteKey(r.key)}
	return req, body, nil
}

// sentBody records whether the body of a request was read in order to be sent. If
// it was not, the server cannot have carried out the creation or submission. This
// is true for every http.RoundTripper.
type sentBody struct {
	state atomic.Int32
}

const (
	bodyUntouched = iota // not read yet
	bodyRead             // perhaps sent
	bodyWithheld         // not sent, and can no longer be read
)

// withheld reports whether the body was not sent, and prevents that it is sent
// later. It returns true for nil, the body of a read.
func (b *sentBody) withheld() bool {
	return b == nil || b.state.CompareAndSwap(bodyUntouched, bodyWithheld) || b.state.Load() == bodyWithheld
}

// bodyReader reads a body and records this in a sentBody.
type bodyReader struct {
	*sentBody
	r io.Reader
}

func (b bodyReader) Read(p []byte) (int, error) {
	b.state.CompareAndSwap(bodyUntouched, bodyRead)
	if b.state.Load() == bodyWithheld {
		return 0, errors.New("client: the request has ended")
	}
	return b.r.Read(p)
}

// maxKeyBytes is the longest idempotency key that the servers of this module
// accept.
const maxKeyBytes = 255

// idempotencyKey returns the Idempotency-Key for once, as [Client.CreatePet] says.
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

// quoteKey returns key as the value of an Idempotency-Key field: a String of
// RFC 9651.
func quoteKey(key string) string { return `"` + escapeKey.Replace(key) + `"` }
