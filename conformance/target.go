package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Target is the server that is judged.
type Target struct {
	// URL is the base URL of /pets, such as http://127.0.0.1:8080/v1.
	// Required.
	URL string

	// MessagesURL is the base URL of /messages. Empty: the checks of messages
	// are skipped.
	MessagesURL string

	// Key is an API key that is valid on the target. Required.
	Key string

	// Implementation and Version name what is judged, for the report. Optional.
	Implementation, Version string
}

// clean returns t with valid URLs that do not end with a slash.
func (t Target) clean() (Target, error) {
	var err error
	if t.URL, err = cleanBase("URL", t.URL); err != nil {
		return t, err
	}
	if t.MessagesURL != "" {
		if t.MessagesURL, err = cleanBase("messages URL", t.MessagesURL); err != nil {
			return t, err
		}
	}
	switch {
	case t.Key == "":
		return t, optionsError("no API key: every operation of the contract requires one")
	case strings.ContainsFunc(t.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return t, optionsError("the API key has white space or characters outside ASCII: it cannot be sent as a bearer token")
	}
	return t, nil
}

// cleanBase returns base without a slash at its end. An error never repeats base,
// which may contain a secret.
func cleanBase(what, base string) (string, error) {
	if base == "" {
		return "", optionsError("no %s: give the base URL of the paths, such as http://127.0.0.1:8080/v1", what)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", optionsError("%s: must start with http:// or https:// and name a host, as in http://127.0.0.1:8080/v1", what)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", optionsError("%s: must not have a user name, password, query or fragment", what)
	}
	return strings.TrimRight(base, "/"), nil
}

// findPetstore returns an error if no petstore that accepts the key responds,
// so that a wrong URL or key is reported once and not by every check. It
// records what the target lists before the run creates anything.
func (s *session) findPetstore(ctx context.Context) error {
	withKey, err := s.client.Do(ctx, probe.Get(allPets("")))
	if err != nil {
		return s.targetError("no response from %s: %v", withKey.URL, err)
	}
	withoutKey, err := s.client.Do(ctx, probe.Get("/pets?limit=1").With(probe.Credential{}))
	if err != nil && !dropped(ctx, err) {
		return s.targetError("no response from %s: %v", withoutKey.URL, err)
	}
	if err := s.recognize(ctx, withKey, withoutKey); err != nil {
		return err
	}
	s.findReuse(ctx)
	s.start = map[string]*probe.Exchange{"": withKey}
	for _, status := range statuses() {
		s.start[status], _ = s.client.Do(ctx, probe.Get(allPets(status))) // checks judge the response
	}
	if err := s.findMessages(ctx); err != nil {
		return err
	}
	if err := s.findPet(ctx); err != nil {
		return err
	}
	return s.findCategory(ctx)
}

// dropped reports whether err says that the target took a request and closed the
// connection, as some do that panic.
func dropped(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !probe.IsUnreachable(err) && !probe.IsTimeout(err)
}

// recognize returns an error if the responses to a list with and without the
// key are not those of a petstore, perhaps a broken one.
func (s *session) recognize(ctx context.Context, withKey, withoutKey *probe.Exchange) error {
	switch {
	case withKey.Status == http.StatusUnauthorized || withKey.Status == http.StatusForbidden:
		return s.targetError("%s responds %s: the target does not accept the API key", withKey.URL, withKey.StatusLine())
	case withKey.Status >= 300 && withKey.Status < 400:
		return s.targetError("%s redirects to %q: give that URL", withKey.URL, withKey.Header.Get("Location"))
	case withKey.Status == http.StatusTooManyRequests:
		return s.targetError("%s keeps responding %s", withKey.URL, withKey.StatusLine())
	}
	if _, err := withKey.JSON(); err == nil && withKey.Status < 300 {
		return nil
	}
	// A petstore whose list is broken still requires the key, and still adds pets.
	// Other servers may require the key for every path.
	if withoutKey.Status == http.StatusUnauthorized && !(isMissing(withKey) && s.cannotAdd(ctx)) {
		return nil
	}
	return s.targetError("no petstore at %s: %s responds %s, Content-Type %q, want a list in JSON; the base URL is the part before /pets",
		s.target.URL, withKey.URL, withKey.StatusLine(), withKey.Header.Get("Content-Type"))
}

// cannotAdd reports whether there is no POST /pets. It sends a pet that the target
// must refuse. A read-only run takes a list that is missing for both.
func (s *session) cannotAdd(ctx context.Context) bool {
	if s.opts.ReadOnly {
		return true
	}
	x, err := s.client.Do(ctx, probe.Post("/pets", `{}`))
	return err == nil && isMissing(x)
}

func isMissing(x *probe.Exchange) bool {
	return slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}, x.Status)
}

// findMessages returns an error if there is no POST /messages. It sends a
// message that the target must refuse, with the key: a target may respond 401 to
// every other request, for whatever path.
func (s *session) findMessages(ctx context.Context) error {
	needed := slices.ContainsFunc(s.checks, func(c Check) bool {
		return c.Feature == FeatureMessages && s.skip[c.ID] == ""
	})
	if !needed {
		return nil
	}
	x, err := s.client.Do(ctx, probe.PostMessage(`{}`))
	switch {
	case err != nil && dropped(ctx, err) && s.target.MessagesURL == s.target.URL:
		return nil // checks judge it: the target responds to other requests
	case err != nil:
		return s.targetError("no response from POST %s: %v", x.URL, err)
	case x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden:
		return s.targetError("%s responds %s: the target of the messages does not accept the API key", x.URL, x.StatusLine())
	case x.Status == http.StatusNotFound || x.Status == http.StatusMethodNotAllowed || x.Status >= 300 && x.Status < 400:
		return s.targetError("no messages at %s: POST %s responds %s; the base URL is the part before /messages", s.target.MessagesURL, x.URL, x.StatusLine())
	}
	return nil
}

// findPet returns an error if the target neither returns nor lists the pet in the
// options.
func (s *session) findPet(ctx context.Context) error {
	if s.opts.Pet == nil || !s.opts.Now().Before(removalBegins) {
		return nil
	}
	x, err := s.client.Do(ctx, probe.Get(fmt.Sprintf("/pets/%d", *s.opts.Pet)))
	if err == nil && x.Status == http.StatusNotFound && !hasID(s.oldPets(""), *s.opts.Pet) {
		return s.targetError("the target has no pet with the id %d: GET %s responds %s", *s.opts.Pet, x.URL, x.StatusLine())
	}
	return nil // the checks judge any other response
}

// findCategory returns an error if the target refuses a pet of the category in the
// options. The pet is the first one of the run.
func (s *session) findCategory(ctx context.Context) error {
	needed := slices.ContainsFunc(s.checks, func(c Check) bool { return c.Feature == FeaturePets && c.Writes && s.skip[c.ID] == "" })
	if s.opts.Category == nil || !needed {
		return nil
	}
	t := &tester{ctx: ctx, s: s}
	e := attempt(func() { t.firstResponse() })
	if e != nil && e.proof != nil && e.proof.Status == http.StatusBadRequest {
		return s.targetError("the target refuses a pet of the category %d: %s", *s.opts.Category, summary(e.proof))
	}
	return nil // the checks judge any other response
}

func (s *session) targetError(format string, args ...any) error {
	return errors.New(s.redact.Show(fmt.Sprintf(format, args...)))
}
