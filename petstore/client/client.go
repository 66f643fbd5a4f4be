// Package client calls a server of the petstore contract over HTTP. Start with
// [New]: it returns a [Client], which is a [petstore.Service] and a
// [petstore.Messages]. Code that uses these interfaces works with a store in its
// own process and with any conformant server, in any language.
//
// After a temporary failure the client repeats a request. If the server may have carried
// out a creation or submission, the client repeats it only with Options.RetryWrites.
// Otherwise the call returns an error for which errors.Is(err, [ErrUnknownOutcome]) is
// true.
//
// The client cannot read a response of success in which an ID or category has a fraction or
// an exponent, such as 7.0 and 1e2, or is outside int64, an object has a name twice, or a
// string has an unpaired surrogate. A read then returns an error, and a creation or
// submission ErrUnknownOutcome.
//
// Every error of a method is a [*petstore.Error]. If a response is the reason, errors.As
// finds a [*ResponseError] with what the server sent.
//
// The client does not follow redirects, so the API key reaches no host but those of the
// base URL and Options.MessagesURL.
//
// A whole program with its test is in examples/list.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Options are the settings of a [Client]. The zero value and nil are ready for
// use.
type Options struct {
	// HTTPClient sends the requests. New copies it, and does not use its CheckRedirect.
	// Its Timeout applies to each attempt; with 0, only the context limits an attempt.
	// nil: a new http.Client with HTTP/1, the proxy of the environment, 128 idle
	// connections, 10 seconds to open one and 30 seconds for each attempt.
	//
	// It must not repeat a creation by itself after the server may have received it. An
	// http.Transport with HTTP/2 does so if the server resets the stream with
	// PROTOCOL_ERROR, without limit; the error may then not be ErrUnknownOutcome.
	HTTPClient *http.Client

	// MessagesURL is the base URL of messages, the part before /messages. "": the
	// base URL of pets.
	MessagesURL string

	// RetryWrites says that the server honours Idempotency-Key, for pets and messages,
	// at both base URLs. Then the client also repeats a creation or submission that
	// the server may have carried out: after a lost connection, 500, 502, 503 and 504,
	// and after a 409 with the code conflict. Set it for servers of this module. A
	// server that ignores the key creates a second pet.
	RetryWrites bool

	// MaxAttempts is the maximum number of times that the client sends a request.
	// 1: it repeats nothing. 0: 8. Package net/http may repeat a read by itself.
	//
	// The client repeats every request after 408, 429 and a connection that could not
	// be opened. It repeats a read after a lost connection, 500, 502, 503 and 504, too.
	MaxAttempts int

	// MinBackoff is the time between the first two attempts. Each further wait is twice
	// as long, up to 20 times MinBackoff. The client shortens each by a random part of
	// at most one half, and adds what Retry-After asks for. 0: 100 ms.
	//
	// The client returns the error at once if Retry-After is more than a minute, or if the
	// wait would last until the context's deadline.
	MinBackoff time.Duration
}

// Client is a client of one server. It is safe for concurrent use.
type Client struct {
	url            *url.URL // the base URL, without a slash at the end
	base, messages string   // the base URLs as text
	key            string
	retryWrites    bool
	maxAttempts    int
	minBackoff     time.Duration
	http           http.Client
}

var (
	_ petstore.Service  = (*Client)(nil)
	_ petstore.Messages = (*Client)(nil)
)

// New returns a client of the server at baseURL, which is the part of URLs before
// /pets, such as https://pets.example/v1. A slash at its end makes no difference.
// key is the API key. opts may be nil.
func New(baseURL, key string, opts *Options) (*Client, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := &Client{key: key, retryWrites: opts.RetryWrites, maxAttempts: opts.MaxAttempts, minBackoff: opts.MinBackoff}
	var err error
	if c.url, err = parseBase(baseURL); err != nil {
		return nil, fmt.Errorf("client: base URL: %w", err)
	}
	c.base = c.url.String()
	c.messages = c.base
	if opts.MessagesURL != "" {
		u, err := parseBase(opts.MessagesURL)
		if err != nil {
			return nil, fmt.Errorf("client: MessagesURL: %w", err)
		}
		c.messages = u.String()
	}
	if key == "" || !rules.Visible(key) {
		return nil, errors.New(
			"client: API key: must be one or more visible ASCII characters, without spaces and line breaks")
	}
	if c.maxAttempts <= 0 {
		c.maxAttempts = 8
	}
	if c.minBackoff <= 0 {
		c.minBackoff = 100 * time.Millisecond
	}
	if opts.HTTPClient != nil {
		c.http = *opts.HTTPClient
	} else {
		// A connection that cannot be opened must fail as such, before the attempt times out.
		c.http.Timeout = 30 * time.Second
		t := &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			Protocols:           new(http.Protocols),
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 128,
			IdleConnTimeout:     90 * time.Second,
		}
		t.Protocols.SetHTTP1(true)
		c.http.Transport = t
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// parseBase returns a base URL without a slash at its end. Its errors do not contain
// s, which may contain a password.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, errors.New("must be an absolute URL with http or https and a host, such as http://127.0.0.1:8080/v1")
	case u.User != nil:
		return nil, errors.New("must have no user and no password; the API key is the credential")
	case strings.ContainsAny(s, "?#"):
		return nil, errors.New("must have no query and no fragment, and must end before /pets")
	}
	u = u.JoinPath() // without ., .. and empty segments
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	return u, nil
}

// CreatePet implements [petstore.Service]. Its requests have an Idempotency-Key field.
// Without a key.Key, the field is random, and new for each call. A Key of 1 to 255 visible
// ASCII characters without a Scope is sent as it is. Otherwise the field is a hash of the
// operation, the Scope and the Key.
func (c *Client) CreatePet(ctx context.Context, p petstore.NewPet, key petstore.IdempotencyKey) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return petstore.Pet{}, err
	}
	r := request{
		url:    c.base + "/pets",
		body:   body,
		key:    idempotencyKey(key, rules.CreatePet),
		status: http.StatusCreated,
		done:   "created the pet",
	}
	return do(ctx, c, r, func(resp *response) (petstore.Pet, error) {
		pet, err := decodePet(resp.body)
		if err == nil {
			err = createdFrom(p, pet)
		}
		return pet, err
	})
}

// SubmitMessage implements [petstore.Messages]. It treats key as CreatePet does.
// CreatedAt is zero unless the server sends a time in the format of RFC 3339, whose zone may
// also be +0000 or +00. Other forms of ISO 8601 conform to the contract too.
func (c *Client) SubmitMessage(ctx context.Context, text string, key petstore.IdempotencyKey) (petstore.Message, error) {
	if err := petstore.ValidateText(text); err != nil {
		return petstore.Message{}, err
	}
	body, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return petstore.Message{}, err
	}
	r := request{
		url:  c.messages + "/messages",
		body: body,
		key:  idempotencyKey(key, rules.SubmitMessage),
		done: "accepted the message",
	}
	return do(ctx, c, r, func(resp *response) (petstore.Message, error) {
		m, err := decodeMessage(resp.body)
		if err == nil && m.Text != text {
			err = fmt.Errorf("message: of the message %q: is not the one that was sent", m.ID)
		}
		return m, err
	})
}

// GetPet implements [petstore.Service]. The contract deprecates the operation, and names
// lists with a status as its replacement.
func (c *Client) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	r := request{url: c.base + "/pets/" + strconv.FormatInt(id, 10), status: http.StatusOK}
	return do(ctx, c, r, func(resp *response) (petstore.Pet, error) {
		pet, err := decodePet(resp.body)
		if err == nil && pet.ID != id {
			err = fmt.Errorf("id: must be %d, got %d", id, pet.ID)
		}
		return pet, err
	})
}
