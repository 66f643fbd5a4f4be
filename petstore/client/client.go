// Package client calls any server of the petstore contract over HTTP. Start with [New]. A whole
// program with its test is in examples/list.
//
// Every error of a method is a [*petstore.Error]. errors.As finds a [*ResponseError] if a
// response is the reason.
//
// The client follows no redirects and no links to other servers, so the API key reaches only
// the hosts of the base URLs.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Options are the settings of a [Client]. The zero value and nil are ready for use.
type Options struct {
	// HTTPClient sends the requests, without its CheckRedirect. Its Timeout is for each
	// attempt. nil: one with HTTP/1, the proxy of the environment and 30 seconds.
	HTTPClient *http.Client

	MessagesURL string // the base URL of messages; "": that of pets

	// RetryWrites says that the server honors Idempotency-Key, as servers of this module do;
	// one that ignores it creates a second pet. Then the client repeats a creation as it does
	// a read, and after a lost response also for a 409, since that attempt may be under way.
	// Otherwise it repeats only what the server has refused.
	RetryWrites bool

	// MaxAttempts is how often a request is sent at most, after a lost connection, 429 or a 5xx
	// but 507. A bad certificate is an error at once. 0: 8.
	MaxAttempts int

	// MinBackoff is the longest first wait. It doubles, up to 16-fold. Retry-After is added. The
	// call fails at once if that is more than a minute, or the wait would last until the
	// context's deadline. 0: 100 ms.
	MinBackoff time.Duration
}

// Client is a client of one server. It is safe for concurrent use.
type Client struct {
	pets, messages *url.URL // the base URLs
	key            string
	options        Options
	http           http.Client
}

// New returns a client of the server at baseURL, such as https://pets.example/v1, for requests
// with the API key. opts may be nil.
func New(baseURL, key string, opts *Options) (*Client, error) {
	c := &Client{key: key}
	if opts != nil {
		c.options = *opts
	}
	c.pets, c.messages = parseBase(baseURL), parseBase(cmp.Or(c.options.MessagesURL, baseURL))
	switch {
	case c.pets == nil || c.messages == nil: // the error has no URL, which may contain a password
		return nil, errors.New("client: base URL: must be like https://pets.example/v1, without user and query")
	case key == "" || !rules.Visible(key) || strings.ContainsAny(key, "\"\\"): // net/http escapes these in errors
		return nil, errors.New("client: API key: must be given, in visible ASCII characters but no quotes and backslashes")
	}
	c.options.MaxAttempts = cmp.Or(c.options.MaxAttempts, 8)
	c.options.MinBackoff = cmp.Or(c.options.MinBackoff, 100*time.Millisecond)
	if c.options.HTTPClient != nil {
		c.http = *c.options.HTTPClient
	} else {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(true)
		c.http.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, Protocols: protocols, MaxIdleConnsPerHost: 128, IdleConnTimeout: time.Minute}
		c.http.Timeout = 30 * time.Second
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// parseBase returns nil if s is not a base URL.
func parseBase(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(s, "?#") {
		return nil
	}
	return u.JoinPath("/")
}

// CreatePet implements [petstore.Service]. Its Idempotency-Key is key.Key, or a hash if that has
// a Scope or is not 1 to 255 printable ASCII characters. Without a Key it is random with
// Options.RetryWrites, and otherwise there is none. The error has [petstore.CodeConflict] if the
// server responds with 409 and the code conflict.
func (c *Client) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	return create(ctx, c, c.pets.JoinPath("pets"), p, key, about(func(got petstore.Pet) bool {
		if p.Status == "" { // a server may have a default
			got.Status = ""
		}
		return got.NewPet == p
	}))
}

// SubmitMessage implements [petstore.Messages], with key as in CreatePet. CreatedAt is zero
// unless the server sends a time of RFC 3339.
func (c *Client) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if err := petstore.ValidateText("message", text); err != nil {
		return petstore.Message{}, err
	}
	return create(ctx, c, c.messages.JoinPath("messages"), map[string]string{"message": text}, key, decodeMessage)
}

// GetPet implements [petstore.Service]. The contract deprecates it.
func (c *Client) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return do(ctx, c, request{url: c.pets.JoinPath("pets", fmt.Sprint(id))}, about(func(got petstore.Pet) bool { return got.ID == id }))
}

// create sends value, which is valid.
func create[W, T any](ctx context.Context, c *Client, u *url.URL, value any, key petstore.IdempotencyKey, decode decoder[W, T]) (v T, err error) {
	r := request{url: u}
	r.body, _ = json.Marshal(value)
	switch {
	case key.Key == "":
		if c.options.RetryWrites {
			r.key = rand.Text()
		}
	case key.Scope == "" && len(key.Key) <= 255 && rules.Printable(key.Key):
		r.key = key.Key
	default:
		r.key = fmt.Sprintf("%x", rules.Digest("", key))
	}
	return do(ctx, c, r, decode)
}
