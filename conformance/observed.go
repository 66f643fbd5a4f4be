package conformance

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What the contract leaves open. These checks record what the target does and do
// not judge it. Their IDs have open in them.

func observed(id, title string, writes bool, run func(*tester) error) Check {
	return Check{
		ID: id, Title: title, Writes: writes,
		Why:     "The contract leaves it open. Client authors need to know what their server does.",
		Failure: "None: the suite records what the target does and does not judge it.",
		late:    strings.HasPrefix(id, "pets.list."),
		run:     run,
	}
}

var (
	openLimit = observed("pets.list.open.limit", "the response to a limit out of range or malformed", false, queries(
		"limit=0", "limit=-1", "limit=101", "limit=9223372036854775808", "limit=abc", "limit=1.5", "limit=1e1", "limit=%2B5", "limit=007", "limit="))
	openFilter = observed("pets.list.open.status", "the response to a status outside the enumeration", false, queries(
		"status=gone", "status=AVAILABLE", "status=%20sold", "status="))
	openQuery = observed("pets.list.open.query", "the response to unknown and repeated parameters", false, queries(
		"color=red", "limit=1&limit=2", "status=sold&status=pending", "LIMIT=1", "limit=%zz"))

	openName = observed("pets.create.open.name", "which names are refused", true, bodies(
		fault{what: "an empty name", body: `{"name":"","categoryId":$C}`},
		fault{what: "a name of spaces", body: `{"name":"   ","categoryId":$C}`},
		fault{what: "a name of 8 KiB", body: `{"name":"$T ` + strings.Repeat("x", 8<<10) + `","categoryId":$C}`},
	))
	openCategory = observed("pets.create.open.category", "which categories are refused", true, bodies(
		fault{what: "the category 0", body: `{"name":$N,"categoryId":0}`},
		fault{what: "the category -1", body: `{"name":$N,"categoryId":-1}`},
	))
	openMembers = observed("pets.create.open.members", "the effect of members that the contract does not name", true, bodies(
		fault{what: "an unknown member", body: `{"name":$N,"categoryId":$C,"color":"red"}`},
		fault{what: "an id", body: `{"name":$N,"categoryId":$C,"id":4611686018427387904}`},
	))
	openNumbers = observed("pets.create.open.numbers", "whether 1.0 and 1e2 are integers", true, bodies(
		fault{what: "a fraction of zero", body: `{"name":$N,"categoryId":$C.0}`},
		fault{what: "an exponent", body: `{"name":$N,"categoryId":1e2}`},
	))
	openJSON = observed("pets.create.open.json", "the response to a byte order mark and an unpaired surrogate", true, bodies(
		fault{what: "a byte order mark", body: "\xef\xbb\xbf" + `{"name":$N,"categoryId":$C}`},
		fault{what: "an unpaired surrogate", body: `{"name":"$T \ud800","categoryId":$C}`},
	))
)

// queries returns the run of a check that records the response to each query.
func queries(list ...string) func(*tester) error {
	return func(t *tester) error {
		for _, q := range list {
			if _, err := t.observeRequest("?"+q, probe.Get("/pets?"+q)); err != nil {
				return err
			}
		}
		return nil
	}
}

// bodies returns the run of a check that records the response to each body.
func bodies(list ...fault) func(*tester) error {
	return func(t *tester) error {
		for _, f := range list {
			n, err := t.newPet("")
			if err != nil {
				return err
			}
			if _, err := t.observeRequest(f.what, probe.Post("/pets", f.fill(n.Name, n.Category))); err != nil {
				return err
			}
		}
		return nil
	}
}

var openOrder = observed("pets.list.open.order", "the order of a list", false, func(t *tester) error {
	l, err := t.listing("")
	if err != nil {
		return err
	}
	ascending := func(a, b pet) int { return cmp.Compare(a.ID, b.ID) }
	descending := func(a, b pet) int { return cmp.Compare(b.ID, a.ID) }
	switch {
	case len(l.pets) < 2:
		return undecidedf("there are too few pets to tell")
	case slices.IsSortedFunc(l.pets, ascending):
		t.observe("order", "by id, ascending")
	case slices.IsSortedFunc(l.pets, descending):
		t.observe("order", "by id, descending")
	default:
		t.observe("order", "not by id")
	}
	return nil
})

var openPages = observed("pets.list.open.pages", "whether a list links to a further page", false, func(t *tester) error {
	x, err := t.requestList(probe.Get("/pets?limit=1"))
	if err != nil {
		return err
	}
	t.observe("Link", "%s", orAbsent(x.Header.Get("Link")))
	return nil
})

var openDefault = observed("pets.create.open.default", "the status of a pet that was added without one", true, func(t *tester) error {
	_, x, err := t.postNew("")
	if err != nil {
		return err
	}
	got, err := readPet(x)
	if err != nil {
		return asUndecided(err, "the response cannot be read")
	}
	t.observe("status", "%s", orAbsent(got.Status))
	return nil
})

var openMediaType = observed("pets.create.open.media-type", "the response to another Content-Type", true, func(t *tester) error {
	for _, ctype := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "application/vnd.api+json"} {
		n, err := t.newPet("sold")
		if err != nil {
			return err
		}
		r := probe.Post("/pets", n.json())
		r.ContentType = ctype
		if _, err := t.observeRequest("Content-Type "+orAbsent(ctype), r); err != nil {
			return err
		}
	}
	return nil
})

var openTwice = observed("pets.create.open.twice", "the response when the same pet is added twice", true, func(t *tester) error {
	first, err := t.add("sold")
	if err != nil {
		return err
	}
	x, err := t.observeRequest("the same body again", probe.Post("/pets", first.json()))
	if err != nil {
		return err
	}
	if again, err := readBody(x, "", guessPet); err == nil && x.Succeeded() {
		t.observe("its id", "%s", map[bool]string{true: "the same", false: "another"}[again.ID == first.ID])
	}
	return nil
})

var openID = observed("pets.get.open.id", "the response to a petId that is not an int64", false, func(t *tester) error {
	for _, id := range []string{"abc", "1.0", "1e2", "+1", "01", "0x1", " 1", "1 ", "-", "%00", "null", "9223372036854775808", strings.Repeat("9", 200)} {
		if _, err := t.observeRequest("petId "+strconv.Quote(probe.Short(id)), probe.Get("/pets/"+url.PathEscape(id))); err != nil {
			return err
		}
	}
	return nil
})

var openCredential = observed("auth.open.spelling", "the response to unusual forms of a valid credential", false, func(t *tester) error {
	for _, c := range probe.UnusualCredentials() {
		if _, err := t.observeRequest(c.What+" ("+c.Shown+")", probe.Get("/pets?limit=1").With(c)); err != nil {
			return err
		}
	}
	return nil
})

var openReplacement = observed("deprecation.open.link", "whether GET /pets/{petId} links to its replacement", false, func(t *tester) error {
	x, err := t.deprecatedResponse()
	if err != nil {
		return err
	}
	t.observe("Link", "%s", orAbsent(strings.Join(x.Header.Values("Link"), ", ")))
	return nil
})

var openMessage = observed("messages.open.answer", "the status and header of the response to a message", true, func(t *tester) error {
	s, err := t.submission()
	if err != nil {
		return err
	}
	t.observe("a message", "%s", s.x.StatusLine())
	for _, name := range []string{"Content-Type", "Location"} {
		t.observe(name, "%s", orAbsent(s.x.Header.Get(name)))
	}
	if _, err := t.observeRequest("an empty text", probe.PostMessage(messageBody(""))); err != nil {
		return err
	}
	_, err = t.observeRequest("an unknown member", probe.PostMessage(strings.Replace(messageBody(t.name()), "}", `,"priority":1}`, 1)))
	return err
})

var openOptions = observed("http.open.options", "the response to OPTIONS and to unknown paths", false, func(t *tester) error {
	requests := []probe.Request{probe.Get("/pets/"), probe.Get("/nothing-here"), probe.Get("/store/orders")}
	if !t.s.opts.ReadOnly {
		options := probe.Get("/pets")
		options.Method = http.MethodOptions
		requests = append(requests, options)
	}
	for _, r := range requests {
		if _, err := t.observeRequest(r.Method+" "+r.Path, r); err != nil {
			return err
		}
	}
	return nil
})
