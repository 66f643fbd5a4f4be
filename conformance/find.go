package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// findTarget returns an error if there is no petstore that can be judged, so that a wrong URL or key is
// reported once and not by every check.
func (r *run) findTarget() error {
	if err := r.findPetstore(); err != nil || r.noMessages {
		return err
	}
	return r.findMessages()
}

// findPetstore returns an error if no petstore that accepts the key responds.
func (r *run) findPetstore() error {
	x := r.tryAgain(r.try(get("/pets?limit=100")))
	switch {
	case x.Err != nil:
		return fmt.Errorf("no response from %s: %w", x.request.URL, x.Err)
	case x.Status == 401 || x.Status == 403:
		return fmt.Errorf("%s responds %s: the target does not accept the API key", x.request.URL, x.StatusLine())
	case x.unavailable():
		return fmt.Errorf("%s keeps responding %s", x.request.URL, x.StatusLine())
	}
	if _, err := x.JSON(); err == nil && x.Status < 300 {
		return nil
	}
	if !r.opts.ReadOnly && r.takesPets() { // its list is broken, perhaps only while it is empty
		return nil
	}
	if location := x.Header.Get("Location"); x.Status >= 300 && x.Status < 400 {
		return fmt.Errorf("%s redirects to %q: give that URL, without /pets; the path of the contract has no slash at its end", x.request.URL, location)
	}
	hint := ""
	if base, ok := strings.CutSuffix(r.target.URL, "/pets"); ok {
		hint = ", perhaps " + base
	} else if x.Status == 404 && strings.Count(r.target.URL, "/") == 2 {
		hint = ", perhaps " + r.target.URL + "/v1"
	}
	return fmt.Errorf("no petstore at %s: %s responds %s, Content-Type %q, want a list in JSON; the base URL is the part before /pets%s",
		r.target.URL, x.request.URL, x.StatusLine(), x.Header.Get("Content-Type"), hint)
}

// takesPets reports whether the target adds a pet, or responds with an Error that the pet is not
// valid.
func (r *run) takesPets() bool {
	x := r.tryAgain(r.try(add(r.pet("available"))))
	_, added := x.addedID()
	err := x.Object()
	return added || x.Status == 400 && err == nil
}

// findMessages finds out whether there is POST /messages, by a message that the target must refuse. It
// has the key: a target may respond 401 to every other request. If the caller has named the URL,
// there must be one.
func (r *run) findMessages() error {
	named := r.target.MessagesURL != ""
	r.target.MessagesURL = cmp.Or(r.target.MessagesURL, r.target.URL)
	x := r.tryAgain(r.try(post(opSubmit, `{}`).as("an empty object as its body", refusal)))
	missing := slices.Contains([]int{404, 405, 410, 501}, x.Status) || x.Status >= 300 && x.Status < 400
	switch {
	case !named && (missing || x.Status == 403): // which a gateway may respond on every path that it does not know
		r.noMessages = true
	case named && x.Unreachable():
		return fmt.Errorf("no response from POST %s: %w", x.request.URL, x.Err)
	case named && (x.Status == 401 || x.Status == 403):
		return fmt.Errorf("%s responds %s: the target of the messages does not accept the API key", x.request.URL, x.StatusLine())
	case missing:
		return fmt.Errorf("no messages at %s: POST %s responds %s; the base URL is the part before /messages",
			r.target.MessagesURL, x.request.URL, x.StatusLine())
	}
	return nil
}
