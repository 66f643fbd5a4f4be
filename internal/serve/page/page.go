// Package page is the web page of a server: its pets, and its API as the
// OpenAPI document describes it. The page is one response that loads nothing else.
// Its script calls the contract's operations as any client does.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
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

// New returns the handler of the page, for GET and HEAD. messages is whether the server
// has messages at the address of the page.
func New(messages bool) http.Handler {
	style, script := read("page.css"), read(scripts...)
	page := []byte(strings.NewReplacer("{{style}}", style, "{{script}}", script, "{{messages}}", strconv.FormatBool(messages)).Replace(read("page.html")))
	policy := "default-src 'none'; style-src " + source(style) + "; script-src " + source(script) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Length", strconv.Itoa(len(page)))
		header.Set("Content-Security-Policy", policy)
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page)
	})
}

// source returns the source expression of Content-Security-Policy that allows an
// inline text.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
