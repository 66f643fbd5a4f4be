package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// start is what the target listed before the run created anything.
type start struct {
	all      *exchange            // GET /pets?limit=100
	byStatus map[string]*exchange // the same with each filter
}

// statuses are the values of the contract, section 2.4.
func statuses() []string { return []string{"available", "pending", "sold"} }

// preflight looks whether there is a petstore that takes the key, so
// that a slip in the command gives one line and not a failure for each check.
func (s *Session) preflight(ctx context.Context) error {
	x, err := s.client.do(ctx, get("/pets?limit=100"))
	if err != nil {
		return s.targetError("no answer from %s: %v", x.url, err)
	}
	keyless, err := s.client.do(ctx, get("/pets?limit=1").as(credential{}))
	if err != nil {
		return s.targetError("no answer from %s: %v", keyless.url, err)
	}
	if err := s.recognise(ctx, x, keyless); err != nil {
		return err
	}
	s.start = start{all: x, byStatus: make(map[string]*exchange)}
	for _, status := range statuses() {
		// Whatever becomes of it is for the checks to judge.
		s.start.byStatus[status], _ = s.client.do(ctx, get("/pets?limit=100&status="+status))
	}
	return s.preflightMessages(ctx)
}

// recognise looks at a list asked for with the key and without.
func (s *Session) recognise(ctx context.Context, x, keyless *exchange) error {
	switch {
	case x.status == http.StatusUnauthorized || x.status == http.StatusForbidden:
		return s.targetError("%s answers %s: the target does not take the API key", x.url, x.statusLine())
	case x.status >= 300 && x.status < 400:
		return s.targetError("%s redirects to %q: give the address that it leads to", x.url, x.header.Get("Location"))
	case x.status == http.StatusTooManyRequests:
		return s.targetError("%s keeps answering %s", x.url, x.statusLine())
	}
	if _, err := parse(x.body); err == nil && x.status < 300 {
		return nil
	}
	// A store whose list is broken still guards it, and one that answers as if
	// there were no list says so in an Error of the contract.
	gone := []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}
	isGone := slices.Contains(gone, x.status)
	if base := s.elsewhere(ctx, isGone); base != "" {
		return s.targetError("no petstore at %s, but at %s: the base URL is what stands before /pets", s.target.URL, base)
	}
	if keyless.status == http.StatusUnauthorized && (!isGone || x.errorString("code") == nil) {
		return nil
	}
	return s.targetError("no petstore at %s: %s answers %s, Content-Type %q, where a list in JSON was expected",
		s.target.URL, x.url, x.statusLine(), x.header.Get("Content-Type"))
}

// elsewhere returns the base address that was probably meant, if a pet
// store answers there; "" if none does. With isGone nothing answers at the one
// that was given.
func (s *Session) elsewhere(ctx context.Context, isGone bool) string {
	lists := func(path string) bool {
		x, err := s.client.do(ctx, get(path+"?limit=1"))
		if err != nil || x.status != http.StatusOK {
			return false
		}
		_, err = x.list()
		return err == nil
	}
	if base, ok := strings.CutSuffix(s.target.URL, "/pets"); ok && lists("") {
		return base
	}
	if isGone && lists("/v1/pets") { // where the contract has it (section 9)
		return s.target.URL + "/v1"
	}
	return ""
}

// preflightMessages looks whether there is a POST /messages, with a request
// that the target has to refuse.
func (s *Session) preflightMessages(ctx context.Context) error {
	wanted := slices.ContainsFunc(s.checks, func(c Check) bool {
		return c.Feature == FeatureMessages && s.skipped[c.ID] == ""
	})
	if !wanted {
		return nil
	}
	x, err := s.client.do(ctx, postMessage(`{}`).as(credential{}))
	switch {
	case err != nil:
		return s.targetError("no answer from %s: %v", x.url, err)
	case x.status == http.StatusNotFound || x.status == http.StatusMethodNotAllowed || x.status >= 300 && x.status < 400:
		hint := ""
		if base, ok := strings.CutSuffix(s.target.MessagesURL, "/messages"); ok {
			hint = "; the base URL is what stands before /messages, " + base
		}
		return s.targetError("no messages at %s: POST %s answers %s%s", s.target.MessagesURL, x.url, x.statusLine(), hint)
	}
	return nil
}

func (s *Session) targetError(format string, args ...any) error {
	return errors.New(printable(s.redact.Replace(fmt.Sprintf(format, args...))))
}
