// Package client calls a server of the petstore contract over HTTP. Start with
// [New]: it returns a [Client], which is a [petstore.Service] and a
// [petstore.Messages]. Code that is written for these interfaces works with a
// store in its own process and with any conforming server.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// Options are the settings of a [Client]. The zero value and nil are ready for
// use.
type Options struct {
	// HTTPClient sends the requests. Its CheckRedirect is not used: the client
	// follows no redirect. nil: a client of its own.
	HTTPClient *http.Client

	// MessagesURL is the base address of messages, the part before /messages.
	// "": the same as that of pets.
	MessagesURL string

	// IdempotentServer says that the server honours Idempotency-Key, as those
	// of this module do.
	IdempotentServer bool

	// Logger receives warnings. nil: nothing is logged.
	Logger *slog.Logger

	// UserAgent is the User-Agent of every request. "": animalstore-client.
	UserAgent string
}

// Client is a client of one server. It is safe for concurrent use.
type Client struct {
	base, messages, key string
	opts                Options
}

var (
	_ petstore.Service  = (*Client)(nil)
	_ petstore.Messages = (*Client)(nil)
)

// New returns a client of the server at baseURL, the address before /pets. key is
// the API key. opts may be nil.
func New(baseURL, key string, opts *Options) (*Client, error) {
	c := &Client{base: strings.TrimRight(baseURL, "/"), key: key}
	if opts != nil {
		c.opts = *opts
	}
	if u, err := url.Parse(c.base); err != nil || u.Host == "" {
		return nil, fmt.Errorf("client: base URL %q: must be absolute, such as http://127.0.0.1:8080/v1", baseURL)
	}
	if c.messages = strings.TrimRight(c.opts.MessagesURL, "/"); c.messages == "" {
		c.messages = c.base
	}
	if c.opts.HTTPClient == nil {
		c.opts.HTTPClient = &http.Client{}
	}
	return c, nil
}

// ListPets implements [petstore.Service].
func (c *Client) ListPets(ctx context.Context, q petstore.ListQuery) (petstore.Page, error) {
	q, err := q.Normalize()
	if err != nil {
		return petstore.Page{}, err
	}
	values, _ := url.ParseQuery(string(q.After))
	values.Set("limit", strconv.Itoa(q.Limit))
	if values.Del("status"); q.Status != "" {
		values.Set("status", string(q.Status))
	}
	var page petstore.Page
	header, err := c.call(ctx, "GET", c.base+"/pets?"+values.Encode(), nil, &page.Pets)
	if link, ok := strings.CutSuffix(header.Get("Link"), `>; rel="next"`); ok && err == nil {
		u, err := url.Parse(strings.TrimPrefix(link, "<"))
		if err != nil {
			return page, err
		}
		page.Next = petstore.Cursor(u.RawQuery)
	}
	return page, err
}

// CreatePet implements [petstore.Service].
func (c *Client) CreatePet(ctx context.Context, p petstore.NewPet, once petstore.Once) (pet petstore.Pet, err error) {
	_, err = c.call(ctx, "POST", c.base+"/pets", p, &pet)
	return pet, err
}

// GetPet implements [petstore.Service].
func (c *Client) GetPet(ctx context.Context, id int64) (pet petstore.Pet, err error) {
	_, err = c.call(ctx, "GET", c.base+"/pets/"+strconv.FormatInt(id, 10), nil, &pet)
	return pet, err
}

// SubmitMessage implements [petstore.Messages].
func (c *Client) SubmitMessage(ctx context.Context, text string, once petstore.Once) (m petstore.Message, err error) {
	_, err = c.call(ctx, "POST", c.messages+"/messages", map[string]string{"message": text}, &m)
	return m, err
}

// All returns the pets of q on all pages, one by one. It ends after the first
// error.
func (c *Client) All(ctx context.Context, q petstore.ListQuery) iter.Seq2[petstore.Pet, error] {
	return func(yield func(petstore.Pet, error) bool) {
		for {
			page, err := c.ListPets(ctx, q)
			if err != nil {
				yield(petstore.Pet{}, err)
				return
			}
			for _, pet := range page.Pets {
				if !yield(pet, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

func (c *Client) call(ctx context.Context, method, target string, in, out any) (http.Header, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, &petstore.Error{Code: petstore.CodeInternal, Message: resp.Status, Err: errors.New(string(body))}
	}
	return resp.Header, json.Unmarshal(body, out)
}
