package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Target is the server that is judged.
type Target struct {
	URL string // the base URL of /pets, such as http://127.0.0.1:8080/v1
	Key string // an API key that is valid on the target

	// MessagesURL is the base URL of /messages. "": URL; if that has no /messages, the
	// conclusion is [Partial] at best.
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

// Options says how to judge a target. The zero value judges by every check.
type Options struct {
	// Select has globs for the IDs of the checks, as in [path.Match]. All requests are sent, but
	// that of pets.create.surrogate only if it is selected. A glob that matches no check is an
	// error. nil: every check.
	Select []string

	// Skip has globs for the IDs of checks that are left out, such as those of a known defect.
	Skip []string

	ReadOnly bool // only GET requests are sent

	// Category is one that the target accepts. nil: the run tries an arbitrary one, then those of
	// the target's pets, then 1.
	Category *int64

	// FailLevel is the lowest level of the checks whose violations make a target not
	// conformant. "": [Required].
	FailLevel Level

	Parallel  int               // the largest number of requests at a time; 0: 8
	Timeout   time.Duration     // of each request, reading the response included; 0: 10 seconds
	Transport http.RoundTripper // nil: one that follows the proxy settings of the environment
}

// withDefaults returns o with defaults for zero fields, or an error for invalid ones.
func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.FailLevel = cmp.Or(r.FailLevel, Required)
	r.Parallel = cmp.Or(r.Parallel, 8)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	switch {
	case r.FailLevel != Required && r.FailLevel != Recommended:
		return r, fmt.Errorf("level %q: must be required or recommended", r.FailLevel)
	case r.Parallel < 0 || r.Timeout < 0:
		return r, fmt.Errorf("parallel %d, timeout %v: must not be negative", r.Parallel, r.Timeout)
	}
	return r, nil
}

// selected returns the IDs of the checks that o selects. A glob that matches no check is an
// error.
func (o *Options) selected() (map[string]bool, error) {
	matches := func(id string) func(string) bool {
		return func(glob string) bool { ok, _ := path.Match(glob, id); return ok }
	}
	for _, glob := range slices.Concat(o.Select, o.Skip) {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return matches(c.ID)(glob) }) {
			return nil, fmt.Errorf("%q matches no check; * stands for any text, as in pets.list.*", glob)
		}
	}
	ids := make(map[string]bool)
	for _, c := range Checks() {
		selected := len(o.Select) == 0 || slices.ContainsFunc(o.Select, matches(c.ID))
		ids[c.ID] = selected && !slices.ContainsFunc(o.Skip, matches(c.ID))
	}
	return ids, nil
}
