package conformance

import (
	"fmt"
	"unicode/utf16"

	"example.com/animalstore/conformance/internal/probe"
)

// Requests as different clients write them (contract, section 1: the service is
// an HTTP/JSON service).

// habit is a way in which some clients write requests.
type habit struct {
	clause    string
	id        string
	what      string // completes "a client …"
	why       string
	change    func(*probe.Request)
	onlyGet   bool // it changes only GET requests
	mayRefuse int  // another status that a target may respond with; 0: none
}

// sets returns the change of a habit that sets header fields: name, value, name,
// value. An empty value removes the field.
func sets(namesAndValues ...string) func(*probe.Request) {
	return func(r *probe.Request) {
		for i := 0; i < len(namesAndValues); i += 2 {
			r.Header = append(r.Header, probe.Field{Name: namesAndValues[i], Value: namesAndValues[i+1]})
		}
	}
}

// ifBody restricts a change to requests that have a body.
func ifBody(change func(*probe.Request)) func(*probe.Request) {
	return func(r *probe.Request) {
		if r.Body != nil {
			change(r)
		}
	}
}

var habits = []habit{
	{clause: "clients", id: "plain", what: "that does one thing after the other",
		why:    "Most clients do. A response must not depend on the request before, which had another key.",
		change: func(*probe.Request) {}},
	{clause: "clients", id: "lower-case", what: "that writes the names of header fields in lower case",
		why:    "Node's fetch and proxies in front of HTTP/2 do. The names have no case.",
		change: func(r *probe.Request) { r.LowerCase = true }},
	{clause: "clients", id: "bare", what: "that sends no Accept, Accept-Encoding and User-Agent",
		why:    "Small clients send only what they need.",
		change: sets("Accept", "", "Accept-Encoding", "", "User-Agent", "")},
	{clause: "clients", id: "browser", what: "that accepts what a browser does",
		why:    "A server that guesses from Accept that it talks to a person returns HTML to scripts too. The contract has no other media type than application/json.",
		change: sets("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64)")},
	{clause: "clients", id: "html", what: "that accepts only text/html",
		why:       "Some clients have a wrong default. The contract has no other media type than application/json, and RFC 9110 allows 406.",
		change:    sets("Accept", "text/html"),
		mayRefuse: 406},
	{clause: "clients", id: "gzip", what: "that accepts gzip",
		why:    "Most clients do. A compressed response must have the same body once it is decompressed.",
		change: sets("Accept-Encoding", "gzip")},
	{clause: "clients", id: "type", what: "that sends a Content-Type with every GET",
		why:     "Clients with a list of default header fields do. A GET has no body that could be wrong.",
		change:  func(r *probe.Request) { r.ContentType = "application/json" },
		onlyGet: true},
	{clause: "clients", id: "ascii", what: "that escapes what is not ASCII",
		why:    "Python's json does by default, with two escapes for a character beyond the basic plane.",
		change: func(r *probe.Request) { r.Body = escape(r.Body) }},
	{clause: "clients", id: "close", what: "that asks to close the connection after each response",
		why:    "Clients without a pool of connections do.",
		change: sets("Connection", "close")},
	{clause: "clients", id: "parts", what: "whose bodies come in two parts",
		why:       "The network cuts what is long anywhere. A body ends after Content-Length bytes, not after what one read returns.",
		change:    ifBody((*probe.Request).SendInParts),
		mayRefuse: 413},
	{clause: "origin", id: "origin", what: "that runs on a page of another origin",
		why:    "Browsers then send Origin. The contract does not say that some origins get other responses.",
		change: sets("Origin", "https://pets.example")},
	{clause: "rfc-conditional", id: "conditional", what: "that has another version of what it gets",
		why:     "Caches ask with If-None-Match. Only a version that is still current gets 304.",
		change:  sets("If-None-Match", `"conformance-none"`),
		onlyGet: true},
	{clause: "rfc-charset", id: "charset", what: "that sends a charset with the media type",
		why:    "Many HTTP libraries add it by themselves.",
		change: ifBody(func(r *probe.Request) { r.ContentType = "application/json;charset=UTF-8" })},
	{clause: "rfc-expect", id: "expect", what: "that expects 100 Continue",
		why:    "Clients with large bodies do; older versions of curl from 1 KiB on.",
		change: ifBody(sets("Expect", "100-continue"))},
}

// clientChecks returns the checks of each habit, for pets and for messages.
func clientChecks() []Check {
	var checks []Check
	for _, h := range habits {
		checks = append(checks, Check{
			ID: "clients." + h.id, Clause: h.clause, Title: "a client " + h.what + " can use pets", Writes: true,
			Why:     h.why,
			Failure: "Such a client gets another response than others: for a valid pet, a pet, a list, a wrong body, an unknown id or no key.",
			phase:   filling, run: func(t *tester) { t.as(h, t.usePets) },
		})
		if !h.onlyGet {
			checks = append(checks, Check{
				ID: "messages.clients." + h.id, Clause: h.clause, Title: "a client " + h.what + " can submit messages", Writes: true,
				Why:     h.why,
				Failure: "Such a client gets another response than others: for a valid message, a wrong body or no key.",
				run:     func(t *tester) { t.as(h, t.useMessages) },
			})
		}
	}
	return checks
}

// as calls use for a client with a habit. If a client without the habit fails too, the
// check is inconclusive, and another one says why.
func (t *tester) as(h habit, use func(habit)) {
	e := attempt(func() { use(h) })
	if e != nil && e.verdict == Fail && h.id != "plain" {
		assume("an ordinary client fails too", func() { use(habit{change: func(*probe.Request) {}}) })
	}
	e.end()
}

// usePets uses every operation on pets as a client with that habit.
func (t *tester) usePets(h habit) {
	n := t.newPet("available")
	n.Name += " Čapek 猫 🦊"
	x := t.ask(h, probe.Post("/pets", n.json()))
	if x.Status == h.mayRefuse {
		t.observe(x.Request.Operation(), x.StatusLine())
		return
	}
	added := t.added(x)
	wantJSON(x)
	wantError := func(r probe.Request, status int, reason string) {
		x := t.ask(h, r)
		t.wantStatus(x, status, "%s", reason)
		if h.id != "plain" { // errors.* judge those
			wantErrorBody(x)
		}
	}
	// A response with the key must not be returned to a client without it, nor the other
	// way round.
	if !t.getRemoved() {
		r := probe.Get(added.path())
		wantError(r.With(probe.Credential{}), 401, "there is no credential")
		t.wantPet(t.ask(h, r), added)
		wantError(r.With(probe.Credential{}), 401, "there is no credential")
		wantError(probe.Get(t.missingPath()), 404, "no pet has the id")
	}
	list := probe.Get(allPets("available"))
	x = t.ask(h, list)
	t.wantStatus(x, 200, "the query is valid")
	readList(x)
	wantJSON(x)
	if l := t.readListing(x); l.has(added.ID) {
		l.wantSame(added)
	}
	wantError(list.With(probe.Credential{}), 401, "there is no credential")
	if h.id != "plain" { // pets.create.400.* judge what any client gets
		wantError(petRequest(t, `{"name":$N}`), 400, "the body has no categoryId")
	}
}

// useMessages is usePets for POST /messages.
func (t *tester) useMessages(h habit) {
	r := probe.PostMessage(messageBody(t.name() + " Čapek 猫 🦊"))
	x := t.ask(h, r)
	if x.Status == h.mayRefuse {
		t.observe(x.Request.Operation(), x.StatusLine())
		return
	}
	t.wantText(x)
	if h.id != "plain" { // messages.400.* judge what any client gets
		t.wantStatus(t.ask(h, probe.PostMessage("{}")), 400, "the body has no message")
	}
	t.wantStatus(t.ask(h, r.With(probe.Credential{})), 401, "there is no credential")
}

// ask sends r as a client with that habit does.
func (t *tester) ask(h habit, r probe.Request) *probe.Exchange {
	h.change(&r)
	x := t.do(r)
	if x.Unreadable() {
		inconclusive("the target responds to this client with the content coding %s, which the suite does not know", x.Coding())
	}
	return x
}

// escape returns JSON with every character that is not ASCII escaped.
func escape(body []byte) []byte {
	var b []byte
	for _, r := range string(body) {
		if r < 0x80 {
			b = append(b, byte(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
}
