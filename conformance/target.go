package conformance

import (
	"fmt"
	"net/url"
	"strings"
)

// Target is the server that is judged.
type Target struct {
	URL string // the base URL of /pets, such as http://127.0.0.1:8080/v1
	Key string // an API key that is valid on the target

	// MessagesURL is the base URL of /messages. Empty: URL, if it has /messages.
	// Otherwise the outcome is [Partial] at best.
	MessagesURL string

	// PetsOnly says that the target is not meant to have /messages. Their checks are not part of
	// the run.
	PetsOnly bool
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
	case t.PetsOnly && t.MessagesURL != "":
		return t, fmt.Errorf("a messages URL (-messages-url) and pets only (-pets-only): give one of the two")
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
