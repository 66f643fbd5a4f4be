package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// openClauses returns what the contract leaves open. The checks record what the
// target does and do not judge it. Their IDs have open in them.
func openClauses() []Clause {
	return []Clause{
		open("open-limit", "4.1", "The response to a limit that is not an integer from 1 to 100.",
			observed("pets.list.open.limit", false, queries(
				"limit=0", "limit=-1", "limit=101", "limit=9223372036854775808", "limit=abc", "limit=1.5", "limit=1e1", "limit=%2B5", "limit=007", "limit="))),
		open("open-filter", "4.1", "The response to a status filter outside the enumeration.",
			observed("pets.list.open.status", false, queries(
				"status=gone", "status=AVAILABLE", "status=%20sold", "status="))),
		open("open-query", "4.1", "The response to unknown and repeated query parameters.",
			observed("pets.list.open.query", false, queries(
				"color=red", "limit=1&limit=2", "status=sold&status=pending", "LIMIT=1", "limit=%zz"))),
		open("open-order", "4.1", "The order of a list.", observed("pets.list.open.order", false, observeOrder)),
		open("open-pages", "4.1", "Whether a response links to further pages, or to the list that replaces GET /pets/{petId}.",
			observed("pets.list.open.pages", false, observePages),
			observed("deprecation.open.link", false, observeReplacement)),
		open("open-default", "2.1", "The status of a pet that was added without one.", observed("pets.create.open.default", true, observeDefault)),
		open("open-name", "2.1", "Which names are refused: empty, very long, with control characters.",
			observed("pets.create.open.name", true, bodies(
				fault{what: "an empty name", body: `{"name":"","categoryId":$C}`},
				fault{what: "a name of spaces", body: `{"name":"   ","categoryId":$C}`},
				fault{what: "a name of 8 KiB", body: `{"name":"$T ` + strings.Repeat("x", 8<<10) + `","categoryId":$C}`},
			))),
		open("open-category", "2.6", "Which categories are refused.",
			observed("pets.create.open.category", true, bodies(
				fault{what: "the category 0", body: `{"name":$N,"categoryId":0}`},
				fault{what: "the category -1", body: `{"name":$N,"categoryId":-1}`},
			))),
		open("open-members", "2.1", "The effect of members that the contract does not name in a request.",
			observed("pets.create.open.members", true, bodies(
				fault{what: "an unknown member", body: `{"name":$N,"categoryId":$C,"color":"red"}`},
				fault{what: "an id", body: `{"name":$N,"categoryId":$C,"id":4611686018427387904}`},
			))),
		open("open-numbers", "2.1", "Whether 1.0 and 1e2 are accepted as integers.",
			observed("pets.create.open.numbers", true, bodies(
				fault{what: "a fraction of zero", body: `{"name":$N,"categoryId":$C.0}`},
				fault{what: "an exponent", body: `{"name":$N,"categoryId":1e2}`},
				fault{what: "a fraction beyond double precision", body: `{"name":$N,"categoryId":4503599627370497.5}`},
			))),
		open("open-json", "4.2", "The response to a byte order mark and to an unpaired surrogate.",
			observed("pets.create.open.json", true, bodies(
				fault{what: "a byte order mark", body: "\xef\xbb\xbf" + `{"name":$N,"categoryId":$C}`},
				fault{what: "an unpaired surrogate", body: `{"name":"$T \ud800","categoryId":$C,"status":"sold"}`},
			))),
		open("open-media", "4", "The response to a new pet with another Content-Type, or none.", observed("pets.create.open.media-type", true, observeMediaType)),
		open("open-twice", "4.2", "The response when the same pet is added twice.", observed("pets.create.open.twice", true, observeTwice)),
		open("open-id", "4.3", "The response to a petId that is not an int64.", observed("pets.get.open.id", false, observeID)),
		open("open-key", "5", "The response to unusual forms of a valid credential.", observed("auth.open.spelling", false, observeCredential)),
		open("open-message", "4.4", "The status, media type and header fields of a successful submission, and which texts are refused.", observed("messages.open.answer", true, observeMessage)),
		open("open-options", "4", "The response to OPTIONS and to unknown paths.", observed("http.open.options", false, observeOptions)),
	}
}

// open returns a clause that the contract leaves open. Its text is the title of its
// checks.
func open(id, section, text string, checks ...Check) Clause {
	for i := range checks {
		checks[i].Title = strings.ToLower(text[:1]) + strings.TrimSuffix(text[1:], ".")
	}
	return Clause{ID: id, Section: section, Text: text, Open: true, Checks: checks}
}

func observed(id string, writes bool, run func(*tester)) Check {
	c := Check{
		ID: id, Writes: writes,
		Why:     "The contract leaves it open. Client authors need to know what their server does.",
		Failure: "None: the suite records what the target does and does not judge it.",
		run:     run,
	}
	switch {
	case strings.HasPrefix(id, "pets.list."):
		c.phase = late
	case strings.HasPrefix(id, "pets.create."):
		c.phase = last
	}
	return c
}

// queries returns the run of a check that records the response to each query.
func queries(list ...string) func(*tester) {
	return func(t *tester) {
		for _, q := range list {
			t.observeRequest("?"+q, probe.Get("/pets?"+q))
		}
	}
}

// bodies returns the run of a check that records the response to each body.
func bodies(list ...fault) func(*tester) {
	return func(t *tester) {
		for _, f := range list {
			t.observeRequest(f.what, petRequest(t, f.body))
		}
	}
}

// observe records what the target does.
func (t *tester) observe(what, got string) {
	t.observations = append(t.observations, Observation{what, got})
}

// observeHeader records a header field of x.
func (t *tester) observeHeader(x *probe.Exchange, name string) {
	t.observe(name, orAbsent(strings.Join(x.Header.Values(name), ", ")))
}

// observeRequest sends r and records the response, or that there is none. The check
// ends if the target cannot be reached.
func (t *tester) observeRequest(what string, r probe.Request) *probe.Exchange {
	x, e := t.try(r)
	if e != nil && e.verdict == Errored && !probe.IsTimeout(x.Err) {
		e.end()
	}
	t.observe(what, summary(x))
	return x
}

// summary describes a response in a few words.
func summary(x *probe.Exchange) string {
	s := x.StatusLine()
	if x.Status == 0 {
		return s
	}
	if len(x.Body) == 0 {
		return s + ", no body"
	}
	if _, err := x.JSON(); err != nil {
		return s + ", a body that is not JSON"
	}
	if elements, err := x.Array(); err == nil {
		return fmt.Sprintf("%s, %d pets", s, len(elements))
	}
	o, _ := x.Object()
	if code, err := o.Str("code"); err == nil && x.Status >= 400 {
		return s + ", code " + probe.Short(code)
	}
	return s
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

func observeOrder(t *tester) {
	l := t.listing("")
	ascending := func(a, b pet) int { return cmp.Compare(a.ID, b.ID) }
	descending := func(a, b pet) int { return cmp.Compare(b.ID, a.ID) }
	switch {
	case len(l.pets) < 2:
		inconclusive("there are too few pets to tell")
	case slices.IsSortedFunc(l.pets, ascending):
		t.observe("order", "by id, ascending")
	case slices.IsSortedFunc(l.pets, descending):
		t.observe("order", "by id, descending")
	default:
		t.observe("order", "not by id")
	}
}

func observePages(t *tester) {
	t.observeHeader(t.getList("?limit=1").x, "Link")
}

func observeReplacement(t *tester) {
	t.observeHeader(t.getKnown(), "Link")
}

func observeDefault(t *tester) {
	x := t.post(t.newPet(""))
	got := need("the response cannot be read", func() pet { return readPet(x) })
	t.observe("status", orAbsent(got.Status))
}

func observeMediaType(t *tester) {
	for _, ctype := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "application/vnd.api+json"} {
		r := probe.Post("/pets", t.newPet("sold").json())
		r.ContentType = ctype
		t.observeRequest("Content-Type "+orAbsent(ctype), r)
	}
}

func observeTwice(t *tester) {
	first := t.add("sold")
	x := t.observeRequest("the same body again", probe.Post("/pets", first.json()))
	if again, err := guessPet(x); err == nil && x.Succeeded() {
		got := "another"
		if again.ID == first.ID {
			got = "the same"
		}
		t.observe("its id", got)
	}
}

func observeID(t *tester) {
	observe := func(shown, id string) {
		t.observeRequest("petId "+strconv.Quote(probe.Short(shown)), probe.Get("/pets/"+url.PathEscape(id)))
	}
	for _, id := range []string{"abc", "1.0", "1e2", "+1", "01", "0x1", " 1", "1 ", "-", "%00", "null", "9223372036854775808", strings.Repeat("9", 200)} {
		observe(id, id)
	}
	attempt(func() {
		known := t.knownPet()
		for _, form := range []string{"%d.0", "%de0", "+%d", "00%d", "0x%x", " %d", "%d ", "%d/", "%d.json"} {
			observe(strings.NewReplacer("%d", "ID", "%x", "ID").Replace(form), fmt.Sprintf(form, known)) // the same in every run
		}
	})
}

func observeCredential(t *tester) {
	for _, c := range probe.UnusualCredentials() {
		t.observeRequest(c.What+" ("+c.Shown+")", probe.Get("/pets?limit=1").With(c))
	}
}

func observeMessage(t *tester) {
	x := t.submission()
	t.observe("a message", x.StatusLine())
	t.observeHeader(x, "Content-Type")
	t.observeHeader(x, "Location")
	t.observeRequest("an empty text", probe.PostMessage(messageBody("")))
	t.observeRequest("an unknown member", messageRequest(t, `{"message":$N,"priority":1}`))
}

func observeOptions(t *tester) {
	requests := []probe.Request{probe.Get("/pets/"), probe.Get("/nothing-here"), probe.Get("/store/orders")}
	if !t.s.opts.ReadOnly {
		options := probe.Get("/pets")
		options.Method = http.MethodOptions
		requests = append(requests, options)
	}
	for _, r := range requests {
		t.observeRequest(r.Method+" "+r.Path, r)
	}
}
