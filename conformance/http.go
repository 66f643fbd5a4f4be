package conformance

import (
	"fmt"
	"net/url"
	"strings"
)

// httpChecks are about what HTTP asks of the operations on pets.
func httpChecks() []Check {
	return []Check{
		{
			ID: "http.location", Title: "a creation names the pet in Location",
			Clause: "rfc-location", Level: Recommended, Feature: FeaturePets, Writes: true,
			Why:     "Generic clients find what they created by it.",
			Failure: "A 201 without Location, or with one that does not lead to the pet.",
			run:     httpLocation,
		},
		{
			ID: "http.head", Title: "HEAD answers as GET does, without a body",
			Clause: "rfc-head", Level: Recommended, Feature: FeaturePets, Writes: true, // strictly: it is no GET
			Why:     "Caches and monitors ask with HEAD.",
			Failure: "HEAD /pets gets another status than GET /pets.",
			run:     httpHead,
		},
		{
			ID: "http.method", Title: "a method that is not supported gets 405 with Allow",
			Clause: "rfc-allow", Level: Recommended, Feature: FeaturePets, Writes: true,
			Why:     "A client learns which methods there are.",
			Failure: "PUT to a pet of this run, with a body that is no pet, gets another error than 405, or a 405 without an Allow that has GET. A target that supports PUT is not judged.",
			run:     httpMethod,
		},
		{
			ID: "http.chunked", Title: "a body in chunks is accepted",
			Clause: "rfc-chunked", Level: Recommended, Feature: FeaturePets, Writes: true,
			Why:     "Clients that stream do not know the length.",
			Failure: "A valid pet sent with Transfer-Encoding: chunked gets another status than 201.",
			run:     httpChunked,
		},
		{
			ID: "http.open.options", Title: "what OPTIONS and unknown paths get",
			Clause: "open-options", Level: Observed, Feature: FeaturePets,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			run:     httpOptions,
		},
	}
}

func httpLocation(p *probe) error {
	x, added, err := p.aCreation()
	if err != nil {
		return err
	}
	if x.status != 201 {
		return undecidedf("the creation was answered with %s", x.statusLine())
	}
	where := x.header.Get("Location")
	if where == "" {
		return violationf(x, "the 201 has no Location")
	}
	path, err := p.below(x.url, where)
	if err != nil || path == "" {
		return err // another host's address may be right, and must not see the key
	}
	if gone, err := p.getRemoved(); gone || err != nil {
		return err
	}
	at, err := p.get(path)
	if err != nil {
		return err
	}
	if at.status != 200 {
		return violationf(at, "the Location %q answers %s", where, at.statusLine())
	}
	got, err := at.pet()
	if err != nil || got.ID != added.ID {
		return violationf(at, "the Location %q does not lead to the pet %d", where, added.ID)
	}
	return nil
}

func httpHead(p *probe) error {
	r := get("/pets?limit=1")
	r.method = "HEAD"
	x, err := p.do(r)
	if err != nil {
		return err
	}
	if x.status != 200 {
		return violationf(x, "HEAD gets %s where GET gets 200", x.statusLine())
	}
	return nil
}

func httpMethod(p *probe) error {
	owned, err := p.add("sold")
	if err != nil {
		return err
	}
	r := post(petPath(owned.ID), "{}")
	r.method = "PUT"
	x, err := p.do(r)
	switch {
	case err != nil:
		return err
	case x.status < 400 || x.status == 400 || x.status == 422:
		p.note("PUT", "%s: it seems to be supported", x.statusLine())
		return nil
	case x.status != 405:
		return violationf(x, "PUT gets %s, not 405", x.statusLine())
	case !strings.Contains(strings.ToUpper(strings.Join(x.header.Values("Allow"), ",")), "GET"):
		return violationf(x, "the 405 has no Allow with GET: %s", orAbsent(x.header.Get("Allow")))
	}
	return nil
}

func httpChunked(p *probe) error {
	category, err := p.category()
	if err != nil {
		return err
	}
	r := post("/pets", newPet{p.name(), category, "sold"}.json())
	r.chunked = true
	x, err := p.do(r)
	if err != nil {
		return err
	}
	return p.isAdded(x)
}

func httpOptions(p *probe) error {
	requests := []request{get("/pets/"), get("/nothing-here"), get("/store/orders")}
	if !p.s.opts.ReadOnly {
		requests = append(requests, request{method: "OPTIONS", path: "/pets", auth: validKey()})
	}
	for _, r := range requests {
		x, err := p.do(r)
		if err := p.record(fmt.Sprintf("%s %s", r.method, r.path), x, err); err != nil {
			return err
		}
	}
	return nil
}

// below returns the path below the base address that ref, relative to the
// address at, leads to; "" if it leads elsewhere.
func (p *probe) below(at, ref string) (string, error) {
	base, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(ref)
	if err != nil {
		return "", violationf(nil, "the Location %q is no address", ref)
	}
	path, ok := strings.CutPrefix(u.String(), p.s.target.URL+"/")
	if !ok {
		return "", nil
	}
	return "/" + path, nil
}
