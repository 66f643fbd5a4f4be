// Package client calls a server of the petstore contract over HTTP. Start with
// [New]: it returns a [Client], which is a [petstore.Service] and a
// [petstore.Messages]. Code that uses these interfaces works with a store in its
// own process and with any conformant server, in any language.
//
// After a temporary failure the client sends a request again, as often as
// Options.Retry and the context allow. If the server may have carried out a
// creation or submission, the client sends it again only with
// Options.IdempotentServer. Without that option the error says that the outcome is
// unknown: errors.Is(err, [ErrUnknownOutcome]) is true.
//
// Every error is a [*petstore.Error]. If a response is the reason, errors.As
// finds a [*ResponseError] with what the server sent. No error and no log line
// contains the API key.
//
// The client does not follow redirects, so the API key reaches no other host.
//
// A whole program with its test is in examples/list.
package client

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// Options are the settings of a [Client]. The zero value and nil are ready for
// use.
type Options struct {
	// HTTPClient sends the requests. New copies it, and does not use its
	// CheckRedirect. Its Timeout applies to each try. nil: a new http.Client with
	// HTTP/2 over TLS, the proxy of the environment, 128 idle connections and
	// 30 seconds for each try.
	HTTPClient *http.Client

	// MessagesURL is the base URL of messages, the part before /messages. "": the
	// base URL of pets.
	MessagesURL string

	// IdempotentServer says that the server honours Idempotency-Key, as the
	// servers of this module do: a creation or submission that is repeated with
	// the same key returns the result of the first one. false: the client never
	// repeats a creation or submission that the server may have carried out. It
	// sends an Idempotency-Key in both cases.
	IdempotentServer bool

	// WholeLists makes All fail with ErrIncomplete if the server shows only the
	// first page of a list that may be longer. false: All then ends without an
	// error. The contract does not require further pages.
	WholeLists bool

	// Retry says how often the client sends a request, and how long it waits in
	// between. The zero value: the defaults that the fields of Retry name.
	Retry Retry

	// MaxResponseBytes is the size limit of a response's body, in bytes.
	// 0 or less: 16 MiB.
	MaxResponseBytes int64

	// UserAgent is the User-Agent of every request. "": animalstore-client.
	UserAgent string

	// Logger receives one warning when the server says that GetPet is deprecated,
	// and a line at slog.LevelDebug whenever the client sends a request again.
	// nil: nothing is logged.
	Logger *slog.Logger
}

// Client is a client of one server. It is safe for concurrent use.
type Client struct {
	base, messages string // the base URLs, without a slash at the end
	key            string
	opts           Options
	http           *http.Client
	deprecated     sync.Once // logs the warning about GetPet
}

var (
	_ petstore.Service  = (*Client)(nil)
	_ petstore.Messages = (*Client)(nil)
)

// CreatePet implements [petstore.Service]. The Idempotency-Key of its requests
// depends on once. If once has no key, it is a new random key for this call. If once
// has no scope and its key consists of 1 to 255 visible ASCII characters, it is
// that key. Otherwise it is a hash of the scope and the key.
func (c *Client) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	if err := p.Validate(); err != nil {
		return petstore.Pet{}, err
	}
	return create(ctx, c, p, decodePet, &request{
		base: c.base, path: "/pets", status: http.StatusCreated,
		key: idempotencyKey(once, petstore.OnceCreatePet),
	})
}

// SubmitMessage implements [petstore.Messages]. It treats once as CreatePet does.
func (c *Client) SubmitMessage(ctx context.Context, text string, once petstore.Once) (petstore.Message, error) {
	if err := petstore.ValidateText(text); err != nil {
		return petstore.Message{}, err
	}
	value := struct {
		Message string `json:"message"`
	}{text}
	return create(ctx, c, value, decodeMessage, &request{
		base: c.messages, path: "/messages",
		key: idempotencyKey(once, petstore.OnceSubmitMessage),
	})
}

// GetPet implements [petstore.Service]. The contract deprecates the operation:
// use ListPets.
func (c *Client) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	r := &request{base: c.base, path: "/pets/" + strconv.FormatInt(id, 10), status: http.StatusOK, deprecated: true}
	pet, _, err := do(ctx, c, r, func(body []byte) (petstore.Pet, error) {
		pet, err := decodePet(body)
		if err == nil && pet.ID != id {
			err = faultf("/id", "must be %d, got %d", id, pet.ID)
		}
		return pet, err
	})
	return pet, err
}

// CloseIdleConnections closes connections that no request uses. Nothing needs
// to be called at the end of a program: the client has no goroutines of its
// own, and idle connections end by themselves.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// create sends r with value, which must be valid, as its body.
func create[T any](ctx context.Context, c *Client, value any, decode func([]byte) (T, error), r *request) (T, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return *new(T), &petstore.Error{Code: petstore.CodeInternal, Message: "the request cannot be encoded as JSON", Err: err}
	}
	r.body = body
	v, _, err := do(ctx, c, r, decode)
	return v, err
}

// do sends r and decodes the response.
func do[T any](ctx context.Context, c *Client, r *request, decode func([]byte) (T, error)) (T, http.Header, error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return *new(T), nil, err
	}
	v, err := decode(resp.body)
	if err != nil {
		f := c.broken(r, resp, err)
		return *new(T), nil, f.final(f.unknown)
	}
	return v, resp.Header, nil
}
