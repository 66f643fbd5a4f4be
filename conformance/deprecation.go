package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The contract gives a day without a time zone (sections 4.3, 9). It begins
// in the first zone to reach 5 December 2030, and ends in the last.
func removalBegins() time.Time { return time.Date(2030, time.December, 4, 10, 0, 0, 0, time.UTC) }
func removalEnds() time.Time   { return time.Date(2030, time.December, 6, 12, 0, 0, 0, time.UTC) }

// deprecationChecks are about what GET /pets/{petId} says of its removal.
func deprecationChecks() []Check {
	check := func(id, clause string, level Level, title, why, failure string, run func(*probe) error) Check {
		return Check{
			ID: "deprecation." + id, Title: title, Clause: clause, Level: level, Feature: FeatureDeprecation,
			Why: why, Failure: failure, run: run,
		}
	}
	return []Check{
		check("sunset.date", "sunset", Required, "a Sunset says 5 December 2030",
			"Clients plan by the date.",
			"Fetching a pet is answered with a Sunset that is another day, or several that differ. One that is absent or no date is for deprecation.sunset.present.",
			sunsetDate),
		check("sunset.present", "rfc-sunset", Recommended, "fetching a pet announces its removal in Sunset",
			"Tools warn whoever still uses the operation.",
			"No Sunset, or one that is no HTTP date.",
			sunsetPresent),
		check("deprecation.present", "rfc-deprecation", Recommended, "fetching a pet says that it is deprecated in Deprecation",
			"Tools warn whoever still uses the operation.",
			"No Deprecation, or one that is no date of the form @ and seconds since 1970.",
			deprecationPresent),
		check("deprecation.order", "rfc-deprecation", Recommended, "the deprecation comes no later than the removal",
			"What goes away before it is deprecated warns nobody (RFC 9745, section 4).",
			"The date in Deprecation is later than 5 December 2030.",
			deprecationOrder),
		check("open.link", "open-pages", Observed, "whether fetching a pet leads to what replaces it",
			"The contract leaves it open; a client has to know its server.",
			"Nothing: it is recorded, not judged.",
			deprecationLink),
	}
}

// announcement returns the answer with a single pet, whose header may
// announce its removal.
func (p *probe) announcement() (*exchange, error) {
	f, err := p.fetch()
	if err != nil {
		return nil, asUndecided(err, "there is no pet to fetch")
	}
	if err := p.stillThere(); err != nil {
		return nil, err
	}
	return f.x, nil
}

func sunsetDate(p *probe) error {
	x, err := p.announcement()
	if err != nil {
		return err
	}
	for _, v := range x.header.Values("Sunset") {
		at, err := http.ParseTime(v)
		if err != nil {
			continue
		}
		if at.Before(removalBegins()) || at.After(removalEnds()) {
			return violationf(x, "the Sunset is %q, and the contract says 5 December 2030", v)
		}
	}
	return nil
}

func sunsetPresent(p *probe) error {
	x, err := p.announcement()
	if err != nil {
		return err
	}
	v := x.header.Get("Sunset")
	if v == "" {
		return violationf(x, "the answer has no Sunset")
	}
	if _, err := http.ParseTime(v); err != nil {
		return violationf(x, "the Sunset %q is no HTTP date", v)
	}
	return nil
}

// deprecated returns the date that x says it was deprecated on (RFC 9745).
func deprecated(x *exchange) (time.Time, error) {
	v := x.header.Get("Deprecation")
	if v == "" {
		return time.Time{}, violationf(x, "the answer has no Deprecation")
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(v), "@")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return time.Time{}, violationf(x, "the Deprecation %q is no date of the form @1735689600", v)
	}
	return time.Unix(seconds, 0), nil
}

func deprecationPresent(p *probe) error {
	x, err := p.announcement()
	if err != nil {
		return err
	}
	_, err = deprecated(x)
	return err
}

func deprecationOrder(p *probe) error {
	x, err := p.announcement()
	if err != nil {
		return err
	}
	at, err := deprecated(x)
	if err != nil {
		return nil // for deprecation.deprecation.present
	}
	if at.After(removalEnds()) {
		return violationf(x, "it is deprecated from %s on, after its removal", at.UTC().Format(time.DateOnly))
	}
	return nil
}

func deprecationLink(p *probe) error {
	x, err := p.announcement()
	if err != nil {
		return err
	}
	p.note("Link", "%s", orAbsent(strings.Join(x.header.Values("Link"), ", ")))
	return nil
}
