// Package page is the web page of a server: its pets, and its API as the
// OpenAPI document describes it. The page is one response that loads nothing else.
// Its script calls the contract's operations, and GET /about.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

//go:embed page.html page.css *.js
var files embed.FS

// scripts are the parts of the script. They share one scope, and the last one
// starts the page.
var scripts = []string{"dom.js", "server.js", "pets.js", "document.js", "request.js", "api.js", "page.js"}

func read(names ...string) string {
	var all strings.Builder
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		all.Write(b)
	}
	return all.String()
}

// handler serves the two paths.
type handler struct {
	page   string
	policy string // the value of the Content-Security-Policy field
	auth   httpapi.Authenticator
	counts petstore.Statistics
	refuse func(http.ResponseWriter, *http.Request, error)
}

// New returns the handler of these two paths, for GET and HEAD:
//
//	GET /       the page
//	GET /about  how many pets and queued messages the store holds and, with ?page=N,
//	            the cursor of the Nth page of 20 pets; it needs an API key
//
// refuse responds with an error.
func New(auth httpapi.Authenticator, counts petstore.Statistics, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	style, script := read("page.css"), read(scripts...)
	return &handler{
		page: strings.NewReplacer("{{style}}", style, "{{script}}", script).Replace(read("page.html")),
		policy: "default-src 'none'; style-src " + source(style) + "; script-src " + source(script) +
			"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
		auth:   auth,
		counts: counts,
		refuse: refuse,
	}
}

// source returns the source expression of Content-Security-Policy that allows an
// inline text.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	body, contentType := []byte(h.page), "text/html; charset=utf-8"
	if r.URL.Path == "/about" {
		var err error
		if body, err = h.about(r); err != nil {
			h.refuse(w, r, err)
			return
		}
		contentType = "application/json"
	} else {
		header.Set("Content-Security-Policy", h.policy)
		header.Set("Referrer-Policy", "no-referrer")
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// about returns the response to GET /about.
func (h *handler) about(r *http.Request) ([]byte, error) {
	if _, err := httpapi.Authenticate(r.Context(), h.auth, r.Header); err != nil {
		return nil, err
	}
	stats, err := h.counts.Stats(r.Context())
	if err != nil {
		return nil, err
	}
	var cursor petstore.Cursor // IDs have no gaps
	if page, err := strconv.ParseInt(r.URL.Query().Get("page"), 10, 32); err == nil && page > 1 {
		cursor = petstore.CursorAfter(20 * (page - 1))
	}
	return json.Marshal(struct {
		Cursor petstore.Cursor `json:"cursor"`
		petstore.Stats
	}{cursor, stats})
}
