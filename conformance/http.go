package conformance

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// What HTTP asks of the operations on pets.

var httpChecks = []Check{
	{
		ID: "http.location", Clause: "rfc-location", Title: "the response to a new pet has its Location", Writes: true,
		Why:     "Generic clients find by it what they created.",
		Failure: "A 201 without Location, or with one that is not the pet's.",
		run: func(t *tester) {
			x := t.first().x
			if x.Status != 201 {
				inconclusive("the new pet got %s", x.StatusLine())
			}
			location := x.Header.Get("Location")
			if location == "" {
				fail(x, "the 201 has no Location")
			}
			base, _ := url.Parse(x.URL)
			u, err := base.Parse(location)
			if err != nil {
				fail(x, "the Location %q is not a URL", location)
			}
			path, ok := strings.CutPrefix(u.String(), t.s.target.URL)
			if !ok || !strings.HasPrefix(path, "/") || t.getRemoved() {
				return // the URL of another server may be right, but that server must not receive the key
			}
			at := t.get(path)
			if at.Status != 200 {
				fail(at, "the Location %q gets %s", location, at.StatusLine())
			}
			added := t.firstPet()
			if got, err := parsePet(at); err != nil || got.ID != added.ID {
				fail(at, "the Location %q is not that of the pet %d", location, added.ID)
			}
		},
	},
	{
		ID: "http.head", Clause: "rfc-head", Title: "HEAD gets the same status as GET",
		Writes:  true, // a read-only run sends only GET
		Why:     "Caches and monitors use HEAD.",
		Failure: "HEAD /pets gets a different status from GET /pets.",
		run: func(t *tester) {
			r := probe.Get("/pets?limit=1")
			r.Method = http.MethodHead
			if x := t.do(r); x.Status != 200 {
				fail(x, "HEAD gets %s, and GET gets 200", x.StatusLine())
			}
			if !t.getRemoved() { // a HEAD must not change what GET gets next: pets.get.* judge it
				r.Path = t.firstPet().path()
				t.do(r)
				t.get(r.Path)
			}
		},
	},
	{
		ID: "http.head.key", Clause: "rfc-head", Title: "HEAD requires the key as GET does", Writes: true,
		Why:     "Without a valid key a client must not learn what is in the store.",
		Failure: "HEAD /pets without a credential gets 2xx.",
		run: func(t *tester) {
			r := probe.Get("/pets?limit=1").With(probe.Credential{})
			r.Method = http.MethodHead
			if x := t.do(r); x.Succeeded() {
				fail(x, "HEAD without a credential gets %s", x.StatusLine())
			}
		},
	},
	{
		ID: "http.head.length", Clause: "rfc-head-content", Title: "the Content-Length of HEAD is that of GET", Writes: true,
		Why:     "Clients use HEAD to learn how long the response to GET is.",
		Failure: "The Content-Length of HEAD of a pet of the run is not the length of the body of GET. HEAD may have none.",
		run: func(t *tester) {
			t.wantNotRemoved()
			r := probe.Get(t.firstPet().path())
			r.Method = http.MethodHead
			var head *probe.Exchange
			var said, size string
			for range 6 {
				get := t.get(r.Path)
				head = t.do(r)
				saidNow, sizeNow := head.Header.Get("Content-Length"), strconv.Itoa(len(get.Body))
				switch {
				case get.Status != 200 || head.Status != 200 || get.Coding() != "" || saidNow == "" || saidNow == sizeNow:
					return
				case said != "" && (said != saidNow || size != sizeNow):
					inconclusive("the length of the pet changes from request to request")
				}
				said, size = saidNow, sizeNow
			}
			fail(head, "the response to HEAD has the Content-Length %s, and GET has a body of %s bytes", said, size)
		},
	},
	{
		ID: "http.date", Clause: "rfc-date", Title: "Date has the format of RFC 9110",
		Why:     "Caches compute the age of a response from it.",
		Failure: "A Date that is not like Sun, 06 Nov 1994 08:49:37 GMT. A response without Date is not judged.",
		run:     sendLists,
		every: &rule{what: "responses with a Date", mayBeIdle: true, applies: func(x *evidence) bool { return x.Header.Get("Date") != "" }, want: func(x *evidence) {
			date := x.Header.Get("Date")
			if at, err := time.Parse(http.TimeFormat, date); err != nil || at.Format(http.TimeFormat) != date {
				fail(x.Exchange, "the Date is %q, want one like %q", date, http.TimeFormat)
			}
		}},
	},
	{
		ID: "http.complete", Clause: "rfc-complete", Title: "every response is complete",
		Why:     "A client that gets half a body has no pet, and does not know whether one was added.",
		Failure: "The connection is closed before the body has the length that the response announces, or before the last chunk.",
		phase:   late, run: func(t *tester) {
			attempt(func() { t.get("/pets") }) // there is one at least
			for _, x := range t.s.client.Exchanges() {
				if x.Cut {
					fail(x, "the connection was closed in the middle of the response")
				}
			}
		},
	},
	{
		ID: "http.method", Clause: "rfc-allow", Title: "a method that is not supported gets 405 with Allow", Writes: true,
		Why:     "A client learns which methods are supported.",
		Failure: "PUT to a pet of this run, with a body that is not a pet, gets an error other than 405, or a 405 without an Allow that has GET. A target that supports PUT is not judged.",
		run: func(t *tester) {
			r := probe.Post(t.add("sold").path(), "{}")
			r.Method = http.MethodPut
			x := t.do(r)
			if x.Status < 400 || x.Status == 400 || x.Status == 422 {
				t.observe("PUT", x.StatusLine()+": it seems to be supported")
				return
			}
			if x.Status != 405 {
				fail(x, "PUT gets %s, want 405", x.StatusLine())
			}
			if allow := strings.Join(x.Header.Values("Allow"), ", "); !strings.Contains(strings.ToUpper(allow), "GET") {
				fail(x, "the Allow of the 405 is %s, want GET in it", orAbsent(allow))
			}
		},
	},
	{
		ID: "http.encoded", Clause: "rfc-encoded", Title: "a query in percent-encoding means the same",
		Why:     "Some clients encode more than they must.",
		Failure: "GET /pets?limit=%31&status=%73old gets a status other than 200, more than one pet, or one that is not sold.",
		run: func(t *tester) {
			t.addSamples()
			l := t.getList("?limit=%31&status=%73old")
			if len(l.pets) > 1 || len(l.pets) == 1 && l.pets[0].Status != "sold" {
				fail(l.x, "the list is not that of limit=1 and status=sold")
			}
		},
	},
	{
		ID: "http.coding", Clause: "rfc-coding", Title: "a response is compressed only if the request accepts it",
		Why:     "Clients without a decompressor cannot read it.",
		Failure: "A response has a Content-Encoding that the request does not accept, such as gzip. The suite decompresses gzip and deflate.",
		run:     sendLists,
		every: &rule{what: "responses", applies: func(x *evidence) bool { return len(x.Body) > 0 }, want: func(x *evidence) {
			if coding := x.Coding(); coding != "" && !x.Request.Accepts(coding) {
				fail(x.Exchange, "the response has the content coding %s, which the request does not accept", coding)
			}
		}},
	},
	{
		ID: "http.deflate", Clause: "rfc-deflate", Title: "the coding deflate has the zlib format",
		Why:     "Clients that decompress deflate as RFC 9110 says cannot read a body without that format.",
		Failure: "The body of a list with the Content-Encoding deflate, for a client that accepts it, is compressed without the zlib format, or cannot be decompressed. A target may ignore Accept-Encoding.",
		run: func(t *tester) {
			r := probe.Get("/pets")
			r.Header = []probe.Field{{Name: "Accept-Encoding", Value: "deflate"}}
			t.do(r)
		},
		every: &rule{what: "responses with the coding deflate", mayBeIdle: true, applies: func(x *evidence) bool { return x.Coding() == "deflate" }, want: func(x *evidence) {
			if x.RawDeflate {
				fail(x.Exchange, "the content coding is deflate, and the body does not have the zlib format")
			}
		}},
	},
	{
		ID: "http.etag", Clause: "rfc-etag", Title: "different bodies have different strong ETags",
		Why:     "A cache takes two responses with the same ETag for the same body.",
		Failure: "Two responses to GET of the same URL have the same strong ETag and different bodies. The suite decompresses them first.",
		run:     sendLists,
		every: &rule{what: "responses with a strong ETag", mayBeIdle: true,
			applies: func(x *evidence) bool { return strings.HasPrefix(x.etag(), `"`) },
			want: func(x *evidence) {
				first, _ := find(x.run.all, func(y *evidence) bool { return y.URL == x.URL && y.etag() == x.etag() })
				if !bytes.Equal(first.Body, x.Body) {
					fail(x.Exchange, "the body differs from an earlier one with the same ETag %s", x.etag())
				}
			}},
	},
	{
		ID: "http.chunked", Clause: "rfc-chunked", Title: "a chunked body is accepted", Writes: true,
		Why:     "A client that streams does not know the length.",
		Failure: "A valid pet with Transfer-Encoding: chunked gets a status other than 201.",
		run: func(t *tester) {
			r := probe.Post("/pets", t.newPet("sold").json())
			r.Chunked = true
			t.wantAdded(t.do(r))
		},
	},
}

// etag returns the ETag of a body that GET gets, or "".
func (x *evidence) etag() string {
	if x.Request.Method != http.MethodGet || x.Status != http.StatusOK {
		return ""
	}
	return x.Header.Get("ETag")
}
