package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/petstore"
)

// parseListQuery returns what a query string asks of listPets. Parameters it
// does not know are passed over.
//
// Like url.ParseQuery it refuses bad escapes and semicolons, which some
// intermediaries take for separators; unlike it, it allocates nothing as a
// rule, and a parameter given twice is an error.
func parseListQuery(query string) (petstore.ListQuery, error) {
	var q petstore.ListQuery
	var seen [len(parameters)]bool
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		name, value, err := parseParameter(part)
		if err != nil {
			return q, invalid("query", err)
		}
		i := slices.Index(parameters[:], name)
		if i < 0 {
			continue
		}
		if seen[i] {
			return q, invalid(name, errors.New("must be given only once"))
		}
		seen[i] = true
		switch name {
		case "limit":
			q.Limit, err = parseLimit(value)
		case "status":
			q.Status, err = parseStatus(value)
		case "cursor":
			q.After, err = parseCursor(value)
		}
		if err != nil {
			return q, invalid(name, err)
		}
	}
	return q.Normalize()
}

// parameters are those that parseListQuery knows.
var parameters = [...]string{"limit", "status", "cursor"}

// parseParameter takes apart one name and value of a query string.
func parseParameter(s string) (name, value string, err error) {
	if strings.Contains(s, ";") {
		return "", "", errors.New("malformed: a semicolon must be written as %3B")
	}
	name, value, _ = strings.Cut(s, "=")
	if name, err = url.QueryUnescape(name); err == nil {
		value, err = url.QueryUnescape(value)
	}
	if err != nil {
		return "", "", fmt.Errorf("malformed: %w", err)
	}
	return name, value, nil
}

// parseLimit returns the number that s is in decimal digits, if it is in the
// contract's range (section 8).
func parseLimit(s string) (int, error) {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			n = 0
			break
		}
		// Never beyond a thousand, however many digits follow.
		n = min(n*10+int(c-'0'), petstore.MaxLimit+1)
	}
	if n < petstore.MinLimit || n > petstore.MaxLimit {
		return 0, fmt.Errorf("must be an integer from %d to %d, in decimal digits", petstore.MinLimit, petstore.MaxLimit)
	}
	return n, nil
}

// parseStatus returns the status that s names. The zero Status, which stands
// for none in the model, is not one that a client can name.
func parseStatus(s string) (petstore.Status, error) {
	if status := petstore.Status(s); status.Valid() {
		return status, nil
	}
	return "", errors.New("must be one of available, pending, sold")
}

// parseCursor only sees to it that s is one: whether it is a good one, the
// service knows that gave it out.
func parseCursor(s string) (petstore.Cursor, error) {
	if s == "" {
		return "", errors.New("must not be empty")
	}
	return petstore.Cursor(s), nil
}

// nextLink returns the Link to the page after the one that q asked for. A
// reference of nothing but a query is right under every prefix (RFC 3986,
// section 5.2.2).
func nextLink(q petstore.ListQuery, next petstore.Cursor) string {
	var space [96]byte // a cursor of ours fits
	b := append(space[:0], "<?limit="...)
	b = strconv.AppendInt(b, int64(q.Limit), 10)
	if q.Status != "" {
		b = append(append(b, "&status="...), q.Status...)
	}
	b = append(append(b, "&cursor="...), url.QueryEscape(string(next))...)
	b = append(b, `>; rel="next"`...)
	return string(b)
}
