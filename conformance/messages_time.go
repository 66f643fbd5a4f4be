package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

func messageTime(p *probe) error {
	s, _, err := p.createdAt()
	if err != nil {
		return err
	}
	_, err = parseTimestamp(s.text)
	if err != nil {
		return violationf(s.x, "createdAt %v", err)
	}
	return nil
}

// createdAt returns the submission with createdAt for its text.
func (p *probe) createdAt() (submission, object, error) {
	s, o, err := p.messageRecord()
	if err != nil {
		return s, o, err
	}
	at, err := o.str("createdAt")
	if err != nil {
		return s, o, violationf(s.x, "the body is no message record: %v", err)
	}
	return submission{at, s.x}, o, nil
}

// parseTimestamp reads a date and time of ISO 8601 that says UTC, in the
// extended and the basic form, with or without seconds and a fraction.
func parseTimestamp(s string) (time.Time, error) {
	form := regexp.MustCompile(`^(\d{4})(-?)(\d{2})(-?)(\d{2})[Tt](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?([Zz]|[+-]00(?::?00)?)?$`)
	m := form.FindStringSubmatch(s)
	switch {
	case m == nil || m[2] != m[4]:
		if regexp.MustCompile(`[+-]\d{2}:?\d{2}$`).MatchString(s) && !strings.HasSuffix(s, "00:00") {
			return time.Time{}, fmt.Errorf("is %q, whose offset is not UTC", short(s))
		}
		return time.Time{}, fmt.Errorf("is %q, no timestamp of ISO 8601 in UTC", short(s))
	case m[9] == "":
		return time.Time{}, fmt.Errorf("is %q, without Z or an offset: that is local time", short(s))
	}
	seconds := m[8]
	if seconds == "" || seconds == "60" { // a leap second is a second
		seconds = "59"
	}
	at, err := time.Parse("20060102150405", m[1]+m[3]+m[5]+m[6]+m[7]+seconds)
	if err != nil {
		return at, fmt.Errorf("is %q, which is no day or time that there is", short(s))
	}
	return at, nil
}

func messageNow(p *probe) error {
	s, _, err := p.createdAt()
	if err != nil {
		return asUndecided(err, "there is no createdAt")
	}
	at, err := parseTimestamp(s.text)
	if err != nil {
		return undecidedf("createdAt cannot be read")
	}
	near := func(t time.Time, d time.Duration) bool { return at.Sub(t).Abs() <= d }
	const close, day = 10 * time.Minute, 25 * time.Hour
	date, err := http.ParseTime(s.x.header.Get("Date"))
	switch {
	case err == nil && (near(date, close) || near(s.x.sent, close)):
	case err != nil && near(s.x.sent, day): // the suite's own clock may be wrong
	case err == nil:
		return violationf(s.x, "createdAt is %q in an answer of %s", s.text, date.UTC().Format(time.RFC3339))
	default:
		return violationf(s.x, "createdAt is %q in an answer that came at %s", s.text, s.x.sent.UTC().Format(time.RFC3339))
	}
	return nil
}
