package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// Target is the server that is judged.
type Target struct {
	// URL is the base URL of /pets, such as http://127.0.0.1:8080/v1.
	// Required.
	URL string

	// MessagesURL is the base URL of /messages. Empty: URL, if it has /messages.
	// Otherwise the checks of messages are skipped.
	MessagesURL string

	// Key is an API key that is valid on the target. Required.
	Key string
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
		return t, fmt.Errorf("no API key: every operation of the contract requires one")
	case strings.ContainsFunc(t.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return t, fmt.Errorf("the API key has white space or characters outside ASCII: it cannot be sent as a bearer token")
	}
	return t, nil
}

// cleanBase returns base without a slash at its end. An error never repeats base,
// which may contain a secret.
func cleanBase(what, base string) (string, error) {
	if base == "" {
		return "", fmt.Errorf("no %s: give the base URL of the paths, such as http://127.0.0.1:8080/v1", what)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%s: must start with http:// or https:// and name a host, as in http://127.0.0.1:8080/v1", what)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("%s: must not have a user name, password, query or fragment", what)
	}
	return strings.TrimRight(base, "/"), nil
}

// findPetstore returns an error if no petstore that accepts the key responds,
// so that a wrong URL or key is reported once and not by every check.
func (s *sender) findPetstore() error {
	x := s.client.Do(s.ctx, probe.Get(allPets("").path()))
	switch {
	case x.Err != nil:
		return fmt.Errorf("no response from %s: %w", x.URL, x.Err)
	case x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden:
		return fmt.Errorf("%s responds %s: the target does not accept the API key", x.URL, x.StatusLine())
	case x.Status >= 300 && x.Status < 400:
		return fmt.Errorf("%s redirects to %q: give that URL", x.URL, x.Header.Get("Location"))
	case x.Status == http.StatusTooManyRequests:
		return fmt.Errorf("%s keeps responding %s", x.URL, x.StatusLine())
	}
	if _, err := x.JSON(); err == nil && x.Status < 300 {
		return nil
	}
	// A petstore whose list is broken still requires the key.
	if !isMissing(x) && s.client.Do(s.ctx, probe.Get("/pets?limit=1").With(probe.Credential{})).Status == http.StatusUnauthorized {
		return nil
	}
	hint := ""
	if base, ok := strings.CutSuffix(s.url, "/pets"); ok {
		hint = ", perhaps " + base
	} else if isMissing(x) && !version.MatchString(s.url) {
		hint = ", perhaps " + s.url + "/v1"
	}
	return fmt.Errorf("no petstore at %s: %s responds %s, Content-Type %q, want a list in JSON; the base URL is the part before /pets%s",
		s.url, x.URL, x.StatusLine(), x.Header.Get("Content-Type"), hint)
}

// version matches a base URL that ends in a version, as the contract wants.
var version = regexp.MustCompile(`/v\d+$`)

func isMissing(x *probe.Exchange) bool {
	return slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}, x.Status)
}

// findMessages finds out whether there is POST /messages. It sends a message that the
// target must refuse, with the key: a target may respond 401 to every other request,
// on any path. There must be one if the caller has named its URL: otherwise
// findMessages returns an error.
func (s *sender) findMessages(named bool) error {
	if s.opts.ReadOnly {
		return nil
	}
	x := s.client.Do(s.ctx, post(opSubmit, `{}`, meaning{what: "an empty object", breaks: "messages.400.required"}))
	missing := isMissing(x) || x.Status == http.StatusNotImplemented || x.Status >= 300 && x.Status < 400 ||
		!named && x.Status == http.StatusForbidden // as a gateway may respond on every path that it does not know
	s.messages = named || !missing && x.Err == nil
	switch {
	case !s.messages:
		s.forgetMessages()
	case x.Err != nil && (probe.IsUnreachable(x.Err) || probe.IsTimeout(x.Err)): // judges see whether it only drops connections
		return fmt.Errorf("no response from POST %s: %w", x.URL, x.Err)
	case named && (x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden):
		return fmt.Errorf("%s responds %s: the target of the messages does not accept the API key", x.URL, x.StatusLine())
	case missing:
		return fmt.Errorf("no messages at %s: POST %s responds %s; the base URL is the part before /messages", s.client.MessagesURL, x.URL, x.StatusLine())
	}
	return nil
}
