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
	x := r.tryAgain(r.try(get("/pets?limit=100"), 1))
	switch {
	case x.err != nil:
		return fmt.Errorf("no response from %s: %w", x.url, x.err)
	case x.status == 401 || x.status == 403:
		return fmt.Errorf("%s responds %s: the target does not accept the API key", x.url, x.statusLine())
	case x.unavailable():
		return fmt.Errorf("%s keeps responding %s", x.url, x.statusLine())
	}
	if _, err := x.json(); err == nil && x.status < 300 {
		return nil
	}
	if !r.opts.ReadOnly && r.takesPets() { // its list is broken, perhaps only while it is empty
		return nil
	}
	if location := x.header.Get("Location"); location != "" {
		return fmt.Errorf("%s redirects to %q: give that URL, without /pets; the path of the contract has no slash at its end", x.url, location)
	}
	hint := ""
	if base, ok := strings.CutSuffix(r.target.URL, "/pets"); ok {
		hint = ", perhaps " + base
	} else if x.status == 404 && !strings.HasSuffix(r.target.URL, "/v1") {
		hint = ", perhaps " + r.target.URL + "/v1"
	}
	return fmt.Errorf("no petstore at %s: %s responds %s, Content-Type %q, want a list in JSON; the base URL is the part before /pets%s",
		r.target.URL, x.url, x.statusLine(), x.header.Get("Content-Type"), hint)
}

// takesPets reports whether the target adds a pet, or responds with an Error that the pet is not
// valid.
func (r *run) takesPets() bool {
	x := r.tryAgain(r.try(add(r.pet("available")), 1))
	_, added := x.addedID()
	_, err := x.object()
	return added || x.status == 400 && err == nil
}

// findMessages finds out whether there is POST /messages, by a message that the target must refuse. It
// has the key: a target may respond 401 to every other request. If the caller has named the URL,
// there must be one.
func (r *run) findMessages() error {
	named := r.target.MessagesURL != ""
	r.target.MessagesURL = cmp.Or(r.target.MessagesURL, r.target.URL)
	x := r.tryAgain(r.try(post(opSubmit, `{}`).as("an empty object as its body", refusal), 1))
	missing := slices.Contains([]int{404, 405, 410, 501}, x.status) || x.status >= 300 && x.status < 400
	switch {
	case !named && (missing || x.status == 403): // which a gateway may respond on every path that it does not know
		r.noMessages = true
	case named && isUnreachable(x.err):
		return fmt.Errorf("no response from POST %s: %w", x.url, x.err)
	case named && (x.status == 401 || x.status == 403):
		return fmt.Errorf("%s responds %s: the target of the messages does not accept the API key", x.url, x.statusLine())
	case missing:
		return fmt.Errorf("no messages at %s: POST %s responds %s; the base URL is the part before /messages",
			r.target.MessagesURL, x.url, x.statusLine())
	}
	return nil
}
