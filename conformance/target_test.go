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
	moved := httptest.NewServer(http.RedirectHandler(target.URL+"/pets", http.StatusMovedPermanently))
	t.Cleanup(moved.Close)
	otherKey := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }))
	t.Cleanup(otherKey.Close)
	closed := httptest.NewServer(nil)
	closed.Close()

	at := func(url, messages string) conformance.Target {
		return conformance.Target{URL: url, MessagesURL: messages, Key: testKey}
	}
	for _, tt := range []struct {
		name   string
		target conformance.Target
		opts   conformance.Options
		want   string // part of the error, or of the reason
		usage  bool
	}{
		{name: "a page", target: at(page.URL, ""), want: "no petstore at"},
		{name: "a redirect", target: at(moved.URL, ""), want: "give that URL"},
		{name: "no /v1", target: at(strings.TrimSuffix(target.URL, "/v1"), ""), want: "/pets, perhaps " + target.URL},
		{name: "the URL of the pets", target: at(target.URL+"/pets", ""), want: "/pets, perhaps " + target.URL},
		{name: "the URL of the messages", target: at(target.URL, target.URL+"/messages"), want: "no messages at " + target.URL + "/messages: "},
		{name: "messages that cannot be reached", target: at(target.URL, closed.URL), want: "connection refused"},
		{name: "a key that the messages refuse", target: at(target.URL, otherKey.URL), want: "the target of the messages does not accept the API key"},

		{name: "a password without a scheme", target: at("a:s3cret@localhost", ""), want: "must start with http:// or https://", usage: true},
		{name: "a password in the address", target: at("http://a:s3cret@localhost", ""), want: "password", usage: true},
		{name: "no address", target: at("", ""), want: "no URL", usage: true},
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
