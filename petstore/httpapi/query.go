package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"example.com/animalstore/petstore"
)

// parseListQuery returns what a query string asks of listPets. It ignores
// unknown parameters.
func parseListQuery(query string) (q petstore.ListQuery, err error) {
	values, err := url.ParseQuery(query)
	switch {
	case strings.Contains(query, ";"):
		return q, invalid("query", errors.New("malformed: a semicolon must be written as %3B"))
	case err != nil:
		return q, invalid("query", fmt.Errorf("malformed: %w", err))
	}
	for _, name := range []string{"limit", "status", "cursor"} {
		given := values[name]
		if len(given) == 0 {
			continue
		}
		switch value := given[0]; {
		case len(given) > 1:
			err = errors.New("must be given only once")
		case name == "limit":
			q.Limit, err = parseLimit(value)
		case name == "status":
			q.Status, err = parseStatus(value)
		case value == "":
			err = errors.New("must not be empty")
		default:
			q.After = petstore.Cursor(value) // which the service checks
		}
		if err != nil {
			return q, invalid(name, err)
		}
	}
	return q.Normalize()
}

// parseLimit parses a number in decimal digits, which must be in the contract's
// range (section 8).
func parseLimit(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < petstore.MinLimit || n > petstore.MaxLimit {
		return 0, fmt.Errorf("must be an integer from %d to %d, in decimal digits", petstore.MinLimit, petstore.MaxLimit)
	}
	return int(n), nil
}

// parseStatus returns the status named s. A client cannot name the zero Status,
// which stands for none in the model.
func parseStatus(s string) (petstore.Status, error) {
	if status := petstore.Status(s); status.Valid() {
		return status, nil
	}
	return "", errors.New("must be one of available, pending, sold")
}

// nextLink returns the Link to the page after the one that q asked for. A
// reference that is only a query is right under every prefix (RFC 3986, section
// 5.2.2).
func nextLink(q petstore.ListQuery, next petstore.Cursor) string {
	link := "<?limit=" + strconv.Itoa(q.Limit)
	if q.Status != "" {
		link += "&status=" + string(q.Status)
	}
	return link + "&cursor=" + url.QueryEscape(string(next)) + `>; rel="next"`
}
