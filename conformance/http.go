package conformance

import (
	"net/http"
	"net/url"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// What HTTP asks of the operations on pets.

var httpLocation = Check{
	ID: "http.location", Title: "the response to a new pet has its Location", Writes: true,
	Why:     "Generic clients find by it what they created.",
	Failure: "A 201 without Location, or with one that is not the pet's.",
	run: func(t *tester) error {
		first, err := t.firstResponse()
		if err != nil {
			return err
		}
		x, added := first.x, first.pet
		if x.Status != 201 {
			return undecidedf("the new pet got %s", x.StatusLine())
		}
		location := x.Header.Get("Location")
		if location == "" {
			return violationf(x, "the 201 has no Location")
		}
		path, err := t.pathOf(x, location)
		if err != nil || path == "" {
			return err // another server's URL may be right, and must not receive the key
		}
		if removed, err := t.getRemoved(); removed || err != nil {
			return err
		}
		at, err := t.get(path)
		if err != nil {
			return err
		}
		if at.Status != 200 {
			return violationf(at, "the Location %q gets %s", location, at.StatusLine())
		}
		got, err := readPet(at)
		if err != nil || got.ID != added.ID {
			return violationf(at, "the Location %q is not that of the pet %d", location, added.ID)
		}
		return nil
	},
}

// pathOf returns the path of a Location relative to the target's base URL, or ""
// if it is on another server.
func (t *tester) pathOf(x *probe.Exchange, location string) (string, error) {
	base, err := url.Parse(x.URL)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(location)
	if err != nil {
		return "", violationf(x, "the Location %q is not a URL", location)
	}
	path, ok := strings.CutPrefix(u.String(), t.s.target.URL)
	if !ok || !strings.HasPrefix(path, "/") {
		return "", nil
	}
	return path, nil
}

var httpHead = Check{
	ID: "http.head", Title: "HEAD gets the same status as GET",
	Writes:  true, // a read-only run sends only GET
	Why:     "Caches and monitors use HEAD.",
	Failure: "HEAD /pets gets another status than GET /pets.",
	run: func(t *tester) error {
		r := probe.Get("/pets?limit=1")
		r.Method = http.MethodHead
		x, err := t.do(r)
		if err == nil && x.Status != 200 {
			err = violationf(x, "HEAD gets %s, and GET gets 200", x.StatusLine())
		}
		return err
	},
}

var httpMethod = Check{
	ID: "http.method", Title: "a method that is not supported gets 405 with Allow", Writes: true,
	Why:     "A client learns which methods are supported.",
	Failure: "PUT to a pet of this run, with a body that is not a pet, gets another error than 405, or a 405 without an Allow that has GET. A target that supports PUT is not judged.",
	run: func(t *tester) error {
		owned, err := t.add("sold")
		if err != nil {
			return err
		}
		r := probe.Post(owned.path(), "{}")
		r.Method = http.MethodPut
		x, err := t.do(r)
		switch {
		case err != nil:
			return err
		case x.Status < 400 || x.Status == 400 || x.Status == 422:
			t.observe("PUT", "%s: it seems to be supported", x.StatusLine())
			return nil
		case x.Status != 405:
			return violationf(x, "PUT gets %s, want 405", x.StatusLine())
		}
		if allow := strings.Join(x.Header.Values("Allow"), ", "); !strings.Contains(strings.ToUpper(allow), "GET") {
			return violationf(x, "the Allow of the 405 is %s, want GET in it", orAbsent(allow))
		}
		return nil
	},
}

var httpChunked = Check{
	ID: "http.chunked", Title: "a chunked body is accepted", Writes: true,
	Why:     "A client that streams does not know the length.",
	Failure: "A valid pet with Transfer-Encoding: chunked gets another status than 201.",
	run: func(t *tester) error {
		n, err := t.newPet("sold")
		if err != nil {
			return err
		}
		r := probe.Post("/pets", n.json())
		r.Chunked = true
		x, err := t.do(r)
		if err != nil {
			return err
		}
		return t.wantAdded(x)
	},
}
