package conformance

import (
	"context"
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Requests that follow each other on one connection.

var connectionChecks = []Check{
	{
		ID: "http.connection.reuse", Clause: "list", Title: "a list is served on the connection of a request that was refused",
		Why:     "Clients keep connections. A target that leaves the body of a refused request unread takes it for the start of the next request.",
		Failure: "GET /pets gets another status than 200, or no response, each of three times after a refused request on the same connection, and 200 on a connection of its own. RFC 9112, section 9.3: a server reads the whole body of a request or closes the connection. The rest of the run then uses each connection for one request.",
		run:     (*tester).reuseConnections,
	},
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
