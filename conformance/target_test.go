package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// A target that cannot be judged, or an argument that is wrong, is explained in one line.
func TestNotJudged(t *testing.T) {
	target := newServer(t, variant{})
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<h1>Hello</h1>")) }))
	t.Cleanup(page.Close)
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(guarded.Close)
	moved := httptest.NewServer(http.RedirectHandler(target.URL+"/pets", http.StatusMovedPermanently))
	t.Cleanup(moved.Close)
	otherKey := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }))
	t.Cleanup(otherKey.Close)
	closed := httptest.NewServer(nil)
	closed.Close()

	for _, tt := range []struct {
		name   string
		target conformance.Target
		opts   conformance.Options
		want   string // part of the error, or of the reason
		usage  bool
	}{
		{name: "a page", target: conformance.Target{URL: page.URL, Key: testKey}, want: "no petstore at"},
		{name: "another service, which needs the key for every path", target: conformance.Target{URL: guarded.URL, Key: testKey}, want: "no petstore at"},
		{name: "a redirect", target: conformance.Target{URL: moved.URL, Key: testKey}, want: "give that URL"},
		{name: "no messages there", target: conformance.Target{URL: target.URL, MessagesURL: target.URL + "/x", Key: testKey}, want: "no messages at"},
		{name: "messages that cannot be reached", target: conformance.Target{URL: target.URL, MessagesURL: closed.URL, Key: testKey}, want: "connection refused"},

		{name: "a key that the messages refuse", target: conformance.Target{URL: target.URL, MessagesURL: otherKey.URL + "/v1", Key: testKey}, want: "the target of the messages does not accept the API key"},
		{name: "no messages where every path needs the key", target: conformance.Target{URL: target.URL, MessagesURL: guarded.URL, Key: testKey}, want: "no messages at"},

		{name: "the address of the messages", target: conformance.Target{URL: target.URL, MessagesURL: target.URL + "/messages", Key: testKey}, want: "; the base URL is the part before /messages"},

		{name: "a host's name without a scheme", target: conformance.Target{URL: "localhost:8080/v1", Key: testKey}, want: "must start with http:// or https://", usage: true},
		{name: "a password without a scheme", target: conformance.Target{URL: "a:s3cret@localhost", Key: testKey}, want: "must start with http:// or https://", usage: true},
		{name: "a password in the address", target: conformance.Target{URL: "http://a:s3cret@localhost", Key: testKey}, want: "password", usage: true},
		{name: "a query", target: conformance.Target{URL: "http://localhost/?a=b", Key: testKey}, want: "query", usage: true},
		{name: "no address", target: conformance.Target{Key: testKey}, want: "no URL", usage: true},
		{name: "no key", target: conformance.Target{URL: target.URL}, want: "no API key", usage: true},
		{name: "a key with a line end", target: conformance.Target{URL: target.URL, Key: "abc\n"}, want: "white space", usage: true},
		{name: "another level", target: target, opts: conformance.Options{FailLevel: "all"}, want: `level "all"`, usage: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := conformance.Run(t.Context(), tt.target, &tt.opts)
			why := ""
			if err != nil {
				why = err.Error()
			} else if r.Conclusion == conformance.NotJudged && r.Counts[conformance.Skip] == len(r.Results) {
				why = r.Reason
			}
			if !strings.Contains(why, tt.want) || strings.Contains(why, "\n") || strings.Contains(why, "s3cret") {
				t.Fatalf("the reason is %q, want a line with %q", why, tt.want)
			}
			if got := err != nil; got != tt.usage {
				t.Errorf("it is an error: %v, want %v", got, tt.usage)
			}
		})
	}
}
