package stimuli

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// begin reports whether there is a petstore that can be judged. Otherwise it ends the run, so
// that a wrong URL or key is reported once and not by every check.
func (s *session) begin() bool {
	err := s.findPetstore()
	if err == nil {
		err = s.findMessages()
	}
	if err != nil {
		s.mu.Lock()
		s.exchanges = nil // what it responded is not that of a petstore
		s.mu.Unlock()
		s.stop(err)
	}
	return err == nil && s.ctx.Err() == nil
}

// findPetstore returns an error if no petstore that accepts the key responds.
func (s *session) findPetstore() error {
	x := s.client.Do(s.ctx, probe.Get(probe.LongestList("").Path()))
	switch {
	case x.Err != nil:
		return fmt.Errorf("no response from %s: %w", x.URL, x.Err)
	case x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden:
		return fmt.Errorf("%s responds %s: the target does not accept the API key", x.URL, x.StatusLine())
	case x.Unavailable():
		return fmt.Errorf("%s keeps responding %s", x.URL, x.StatusLine())
	}
	if _, err := x.JSON(); err == nil && x.Status < 300 {
		s.old = probe.ReadList(x).Pets
		return nil
	}
	if !s.ReadOnly && s.takesPets() { // its list is broken, perhaps only while it is empty
		return nil
	}
	if x.Status >= 300 && x.Status < 400 {
		location := x.Header.Get("Location")
		if strings.HasSuffix(location, "/pets/") {
			return fmt.Errorf("%s redirects to %q, but the path of the contract has no slash at its end", x.URL, location)
		}
		return fmt.Errorf("%s redirects to %q: give that URL, without /pets", x.URL, location)
	}
	hint := ""
	if base, ok := strings.CutSuffix(s.URL, "/pets"); ok {
		hint = ", perhaps " + base
	} else if isMissing(x) && !version.MatchString(s.URL) {
		hint = ", perhaps " + s.URL + "/v1"
	}
	return fmt.Errorf("no petstore at %s: %s responds %s, Content-Type %q, want a list in JSON; "+
		"the base URL is the part before /pets%s",
		s.URL, x.URL, x.StatusLine(), x.Header.Get("Content-Type"), hint)
}

// takesPets reports whether the target adds a pet, or responds with an Error that the pet is not
// valid.
func (s *session) takesPets() bool {
	x := s.client.Do(s.ctx, probe.AddPet(s.pet("available"), s.anyCategoryIntent()))
	_, added := x.AddedID()
	_, err := x.Object()
	return added || x.Status == http.StatusBadRequest && err == nil
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
func (s *session) findMessages() error {
	if s.ReadOnly || s.PetsOnly {
		return nil
	}
	intent := probe.Intent{Unusual: "an empty object as its body", FailsCheck: "messages.400.required"}
	x := s.client.Do(s.ctx, probe.Post(probe.SubmitMessage, `{}`, intent))
	named := s.MessagesURL != ""
	missing := isMissing(x) || x.Status == http.StatusNotImplemented || x.Status >= 300 && x.Status < 400
	switch {
	case !named && (missing || x.Status == http.StatusForbidden): // which a gateway may respond on every path that it does not know
		return nil
	case named && (probe.IsUnreachable(x.Err) || probe.IsTimeout(x.Err)): // judges see whether it only drops connections
		return fmt.Errorf("no response from POST %s: %w", x.URL, x.Err)
	case named && (x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden):
		return fmt.Errorf("%s responds %s: the target of the messages does not accept the API key", x.URL, x.StatusLine())
	case missing:
		return fmt.Errorf("no messages at %s: POST %s responds %s; the base URL is the part before /messages",
			s.client.MessagesURL, x.URL, x.StatusLine())
	}
	s.messages, s.messagesFound = true, true
	return nil
}
