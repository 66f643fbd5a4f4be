package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// New returns a client of the server at baseURL, which is the part of URLs before
// /pets, such as https://pets.example/v1. A slash at its end makes no difference.
// key is the API key. opts may be nil.
func New(baseURL, key string, opts *Options) (*Client, error) {
	c := &Client{key: key, opts: opts.withDefaults()}
	var err error
	if c.base, err = parseBase(baseURL); err != nil {
		return nil, fmt.Errorf("client: base URL: %w", err)
	}
	c.messages = c.base
	if c.opts.MessagesURL != "" {
		if c.messages, err = parseBase(c.opts.MessagesURL); err != nil {
			return nil, fmt.Errorf("client: MessagesURL: %w", err)
		}
	}
	if key == "" {
		return nil, errors.New("client: API key: must not be empty")
	}
	if !visibleASCII(key) {
		return nil, errors.New("client: API key: must be visible ASCII characters, without spaces and line breaks")
	}
	if !visibleASCII(strings.ReplaceAll(c.opts.UserAgent, " ", "")) {
		return nil, errors.New("client: UserAgent: must be visible ASCII characters and spaces")
	}
	httpClient := *c.opts.HTTPClient
	httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &httpClient
	return c, nil
}

// withDefaults returns a copy of o with its defaults filled in.
func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.HTTPClient == nil {
		opts.HTTPClient = &http.Client{
			Timeout: 30 * time.Second,
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
				TLSHandshakeTimeout: 10 * time.Second,
				ForceAttemptHTTP2:   true,
				MaxIdleConnsPerHost: 128,
				IdleConnTimeout:     90 * time.Second,
			},
		}
	}
	opts.Retry = opts.Retry.withDefaults()
	if opts.MaxResponseBytes <= 0 {
		opts.MaxResponseBytes = 16 << 20
	}
	if opts.UserAgent == "" {
		opts.UserAgent = "animalstore-client"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return opts
}

// parseBase returns a base URL without a slash at its end. Its errors do not contain
// s, which may contain a password.
func parseBase(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return "", fmt.Errorf("must be an absolute URL, such as http://127.0.0.1:8080/v1: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("must be absolute, with http or https and a host, such as http://127.0.0.1:8080/v1")
	case u.User != nil:
		return "", errors.New("must have no user and no password; the API key is the credential")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#"):
		return "", errors.New("must have no query and no fragment, and must end before /pets")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// visibleASCII reports whether all characters of s are visible ASCII.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
