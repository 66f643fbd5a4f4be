package conformance

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Checks of connections: several requests on one, and what net/http hides of a
// response.

var connectionChecks = []Check{
	{
		ID: "http.connection.reuse", Clause: "list", Title: "a list is served on the connection of a request that was refused",
		Why:     "Clients keep connections. A target that leaves the body of a refused request unread takes it for the start of the next request.",
		Failure: "GET /pets gets a status other than 200, or no response, each of three times after a refused request on the same connection, and 200 on a connection of its own. RFC 9112, section 9.3: a server reads the whole body of a request or closes the connection. The rest of the run then uses each connection for one request.",
		run:     (*tester).reuseConnections,
	},
	{
		ID: "http.head.body", Clause: "rfc-head-content", Title: "the response to HEAD has no body", Writes: true,
		Why:     "A client takes it for the start of the next response on the connection.",
		Failure: "Something follows the header of a response to HEAD, with any status.",
		run: func(t *tester) {
			for _, x := range t.raw() {
				if x.Request.Method == http.MethodHead && len(x.Body) > 0 {
					fail(x, "the response to HEAD has %s after its header", probe.Plural(len(x.Body), "byte"))
				}
			}
		},
	},
	{
		ID: "http.length", Clause: "rfc-length", Title: "a response has only one length",
		Why:     "If a client and a proxy believe different lengths, they disagree on where the next response begins.",
		Failure: "A response has Content-Length and Transfer-Encoding, or two values of Content-Length.",
		run: func(t *tester) {
			for _, x := range t.raw() {
				lengths := x.Header.Values("Content-Length")
				switch {
				case len(lengths) > 0 && x.Header.Get("Transfer-Encoding") != "":
					fail(x, "the response has both Content-Length and Transfer-Encoding")
				case slices.ContainsFunc(lengths, func(length string) bool { return length != lengths[0] }):
					fail(x, "the response has the Content-Length %s", strings.Join(lengths, " and "))
				}
			}
		},
	},
	{
		ID: "http.version", Clause: "rfc-version", Title: "a response to HTTP/1.0 is not chunked",
		Why:     "HTTP/1.0 clients and proxies read the sizes of the chunks as part of the body.",
		Failure: "The response to GET /pets as HTTP/1.0 has Transfer-Encoding. A target may refuse such requests.",
		run: func(t *tester) {
			for _, x := range t.raw() {
				if coding := x.Header.Get("Transfer-Encoding"); x.Request.HTTP10 && coding != "" {
					fail(x, "the response to an HTTP/1.0 request has the Transfer-Encoding %s", coding)
				}
			}
		},
	},
	{
		ID: "http.close", Clause: "rfc-close", Title: "the connection is closed if the request asks for it",
		Why:     "A client that waits for the end of the connection waits in vain, and the target runs out of connections.",
		Failure: "After the response to a request with Connection: close, the target responds to another request on the connection.",
		run: func(t *tester) {
			for _, x := range t.raw() {
				if x.Kept {
					fail(x, "the request has Connection: close, and the target responds to another request on the connection")
				}
			}
		},
	},
	{
		ID: "http.lost", Clause: "rfc-response", Title: "a request gets a response if nothing else is under way",
		Why:     "The suite sends a request again if its connection is lost. A client that does so may add a pet twice.",
		Failure: "At least two requests of the run lose their connection before the response while no other is under way. Then at least two of up to 100 more do so, which are sent one after another, with a pause of 20 ms before each, on connections of their own.",
		phase:   alone, slow: true, run: (*tester).loseRequests,
	},
	{
		ID: "http.expect", Clause: "rfc-expect", Title: "a request that expects 100 Continue gets a response before its body is sent", Writes: true,
		Why:     "Clients wait for one, some for a second with each request.",
		Failure: "Twice, nothing is received for two seconds, and then a request without Expect gets its response sooner. A target that speaks HTTP/1.0 is not judged.",
		slow:    true, run: func(t *tester) {
			if t.raw()[0].Proto == "HTTP/1.0" {
				return
			}
			plain := probe.Post("/pets", `{}`)
			expects := plain
			expects.Header = []probe.Field{{Name: "Expect", Value: "100-continue"}}
			silent := 0
			for range 4 {
				x := t.sendRaw(expects)
				if !x.Silent {
					return
				}
				if y := t.sendRaw(plain); y.Received.Sub(y.Sent) < 2*time.Second {
					silent++
				}
				if silent == 2 {
					fail(x, "a request that expects 100 Continue gets no response until its body is sent")
				}
			}
			inconclusive("the target takes long to respond to any request")
		},
	},
}

// raw returns the responses to a few requests as they were received. All checks share
// them.
func (t *tester) raw() []*probe.Exchange {
	return share(t, "raw", func(t *tester) []*probe.Exchange {
		list := probe.Get("/pets?limit=1")
		list.Header = []probe.Field{{Name: "Connection", Value: "close"}}
		old, head := list, list
		old.HTTP10, head.Method = true, http.MethodHead
		requests := []probe.Request{list, list.With(probe.Credential{}), old}
		if !t.s.opts.ReadOnly {
			missing := probe.Get(t.missingPath())
			missing.Method = http.MethodHead
			requests = append(requests, head, missing, probe.Post("/pets", `{}`))
		}
		responses := make([]*probe.Exchange, len(requests))
		t.parallel(len(requests), len(requests), func(t *tester, i int) {
			e := attempt(func() { responses[i] = t.sendRaw(requests[i]) })
			if i == 0 { // a target may refuse the others in any way
				e.end()
			}
		})
		return slices.DeleteFunc(responses, func(x *probe.Exchange) bool { return x == nil })
	})
}

// sendRaw sends r on a connection of its own, as [probe.Client.Raw] does. The check is
// inconclusive if there is no response to judge.
func (t *tester) sendRaw(r probe.Request) *probe.Exchange {
	for try := 1; ; try++ {
		x := t.s.client.Raw(t.ctx, r)
		t.record(x)
		switch {
		case x.Err == nil && !x.Unavailable():
			return x
		case x.Err == nil && try == 3:
			inconclusive("the target responds %s", x.StatusLine())
		case x.Err != nil && (try == 3 || probe.IsTimeout(x.Err)):
			inconclusive("no response to read byte by byte: %v", x.Err)
		}
	}
}

// loseRequests ends the check if the target loses requests whatever the client does. A
// target may close an idle connection, and refuse a connection if too many are open. So
// each of these requests has a new connection, and no other is open.
func (t *tester) loseRequests() {
	const (
		most    = 100
		pause   = 20 * time.Millisecond // the target learns that the last connection is closed
		longest = 10 * time.Second
	)
	lost := 0
	for _, x := range t.s.client.Exchanges() {
		if x.Lost() {
			lost++
		}
	}
	if lost < 2 {
		return
	}
	r := probe.Get("/pets?limit=1")
	r.Fresh = true
	lost = 0
	for n, began := 1, time.Now(); n <= most && time.Since(began) < longest; n++ {
		time.Sleep(pause)
		x := t.s.client.Send(t.ctx, r)
		if t.record(x); x.Lost() {
			lost++
		}
		if lost == 2 {
			fail(x, "2 of %d requests on connections of their own got no response while nothing else was under way: %v", n, x.Err)
		}
	}
}

// findReuse finds out whether the target can serve several requests on a
// connection. If not, the run uses each connection for one request, so that no
// other check fails for it.
func (s *session) findReuse(ctx context.Context) {
	t := &tester{ctx: ctx, s: s}
	if e := attempt(t.reuseConnections); e != nil && e.verdict == Fail {
		s.client.Reuse(false)
		s.client.Forget(func(x *probe.Exchange) bool { return x.Reused })
	}
}

// reuseConnections ends the check if a list is not served after one of the requests
// that the target refuses.
func (t *tester) reuseConnections() {
	share(t, "reuse", func(t *tester) bool {
		for _, r := range t.refusedRequests() {
			t.wantReusable(r)
		}
		return true
	})
}

// refusedRequests returns requests that a target may refuse before it has read
// their bodies.
func (t *tester) refusedRequests() []probe.Request {
	requests := []probe.Request{probe.Get("/pets").With(probe.Credential{})}
	if t.s.opts.ReadOnly {
		return requests
	}
	for _, post := range []probe.Request{probe.Post("/pets", `{"name":`), probe.PostMessage(`{"message":`)} {
		if post.Messages && t.s.target.MessagesURL == "" {
			continue
		}
		noKey, noType, large := post.With(probe.Credential{}), post, post.With(probe.Credential{})
		noType.ContentType = ""
		large.Body = append(large.Body, strings.Repeat(" ", 16<<10)...)
		requests = append(requests, noKey, post, noType, large)
	}
	return requests
}

// wantReusable ends the check if a list is not served on the connection of r, three
// times in a row, and is served on a connection of its own.
func (t *tester) wantReusable(r probe.Request) {
	list := probe.Get("/pets?limit=1")
	var first, x *probe.Exchange
	for range 3 {
		if first, x = t.sendAfter(r, list); !x.Reused || x.Status == http.StatusOK || x.Unavailable() {
			return
		}
	}
	if alone := t.sendAlone(list); alone.Status == http.StatusOK {
		x.Before = first
		fail(x, "the body of a %s %s that got %s seems to be left unread: after it on the same connection GET %s gets %s, and on a connection of its own 200 OK",
			r.Method, r.Path, first.StatusLine(), list.Path, x.StatusLine())
	}
}

// sendAfter sends r on the connection of first, if the target keeps it, and returns
// both exchanges.
func (t *tester) sendAfter(first, r probe.Request) (before, x *probe.Exchange) {
	before = t.sendAlone(first)
	x = t.s.client.Send(t.ctx, r)
	t.record(x)
	return before, x
}

// sendAlone sends r once, on a new connection. No other request may be under way.
func (t *tester) sendAlone(r probe.Request) *probe.Exchange {
	t.s.client.Close()
	x := t.s.client.Send(t.ctx, r)
	t.record(x)
	return x
}
