package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// POST /pets (contract, sections 2.1, 2.2 and 4.2).

// surrogateCheck is the check whose request is the last creation of a run. It is not sent if the
// check is not selected.
const surrogateCheck = "pets.create.surrogate"

func createChecks() []Check {
	refused := func(x *exchange) bool { return x.Refused() }
	checks := []Check{
		{
			ID: "pets.create.status", Section: "1, 4.2", Title: "POST /pets with a valid pet responds 201",
			Why: "201 tells a client that the pet was added.",
			applies: func(x *exchange) bool {
				return x.intent.Pet != nil && x.valid() && !(x.isPlain() && x.intent.Pet.Status == "")
			},
			wrong: (*exchange).wrongCreation,
		},
		{
			ID: "pets.create.status.absent", Section: "2.1", Title: "a pet without a status is accepted",
			Why:     "The status is optional.",
			applies: func(x *exchange) bool { return x.isPlain() && x.intent.Pet.Status == "" },
			wrong:   (*exchange).wrongCreation,
		},
		{
			ID: "pets.create.media-type", Section: "4", Title: "the response to a new pet is application/json",
			Why:     byMediaType,
			applies: func(x *exchange) bool { return x.isCreation() && x.hasKey() }, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.create.pet", Section: "2.2", Title: "the response to a new pet is the pet, with each field of its type",
			Why:     typed,
			applies: (*exchange).isCreation, wrong: (*exchange).wrongPetBody,
		},
		{
			ID: "pets.create.id.unique", Section: "2.2", Title: "every new pet gets a new id",
			Why:     "If two pets have the same id, one hides the other.",
			applies: (*exchange).isAdded,
			wrongAfter: func(x *exchange) (*exchange, string) {
				if first := x.run.addedBy(x.pet.ID); first != x {
					return first, fmt.Sprintf("another pet of this run has the id %d", x.pet.ID)
				}
				if first := x.run.firstShown[x.pet.ID]; first.Received.Before(x.Sent) {
					return first, fmt.Sprintf("a pet that was there before has the id %d", x.pet.ID)
				}
				return nil, ""
			},
		},
		changedCheck("pets.create.name", "2.1, 2.2", "the response to a new pet shows its name as it was sent", probe.InName),
		changedCheck("pets.create.category", "2.1, 2.2", "the response to a new pet shows its categoryId as it was sent", probe.InCategory),
		changedCheck("pets.create.status.kept", "3.1", "the response to a new pet shows the status that was sent", probe.InStatus),
		{
			ID: "pets.create.status.before", Section: "3.1",
			Title:   "a pet without a status does not get that of the request before",
			Why:     "The status of a pet is set on its own creation.",
			applies: func(x *exchange) bool { return x.intent.After != "" && x.isAdded() },
			wrong: func(x *exchange) string {
				seen := make(map[string]bool)
				for _, y := range x.run.posts {
					if y.intent.After == "" || !y.isAdded() {
						continue
					}
					if y.pet.Status != y.intent.After {
						return ""
					}
					seen[y.pet.Status] = true
				}
				if len(seen) < len(probe.Statuses()) {
					return ""
				}
				return "pets without a status get that of the request before, with each of the three statuses"
			},
		},
		{
			ID: "pets.create.once", Section: "4.2", Title: "a request adds at most one pet",
			Why: "A client would have more pets than it added.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.Pets {
					requests := x.run.unexplained(p)
					if len(requests) > 0 && !slices.ContainsFunc(requests, refused) {
						return requests[0], "the list has another pet with the name of one that was added" + x.list.Show(p.ID)
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.create.refused", Section: "4.2, 5", Title: "a request that is refused adds nothing",
			Why: "A client that corrects its request and repeats it would have the pet twice.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.Pets {
					requests := x.run.unexplained(p)
					if i := slices.IndexFunc(requests, refused); i >= 0 {
						return requests[i], fmt.Sprintf("the pet %q is in the store, though its request got %s%s",
							p.Name, requests[i].StatusLine(), x.list.Show(p.ID))
					}
				}
				return nil, ""
			},
		},
		{
			ID: "http.location", Section: "RFC 9110, 15.3.2",
			Title: "the response to a new pet has its Location", Level: Recommended,
			Why:     "Generic clients find by it what they created.",
			applies: func(x *exchange) bool { return x.isAdded() && x.Status == http.StatusCreated },
			wrong:   (*exchange).wrongLocation,
		},
	}
	for _, f := range []struct {
		id, section, title, why string
		level                   Level
	}{
		{"body", "4.2, 7", "a body that is missing or not a JSON object gets 400", mistake, Required},
		{"required", "4.2, 7", "a body without name or without categoryId gets 400", mistake, Required},
		{"values", "4.2, 7", "a body with a value that its field does not allow gets 400", mistake, Required},
		{"status", "2.4", "a body with an unknown status gets 400", mistake, Required},
		{"status.null", "2.1", "a body with null for the status gets 400", mistake, Recommended},
		{"duplicate", "RFC 8259, 4", "a body with a name twice gets 400", "Two readers of the same body may read two pets.", Recommended},
		{"utf8", "RFC 8259, 8.1", "a body that is not UTF-8 gets 400", keptExactly, Recommended},
	} {
		checks = append(checks, faultCheck("pets.create.400."+f.id, f.section, f.title, f.why, f.level))
	}
	return append(checks, Check{
		ID: surrogateCheck, Section: "4.2", Title: "an unpaired surrogate as a name gets 201 or 400",
		Why:     "A target that fails on one may fail for every later list.",
		applies: func(x *exchange) bool { return x.intent.FailsCheck == surrogateCheck },
		wrong: func(x *exchange) string {
			if x.Status == http.StatusCreated || x.Status == http.StatusBadRequest {
				return ""
			}
			return fmt.Sprintf("the request has %s: the response is %s, want 201 or 400", x.intent.Unusual, x.StatusLine())
		},
	})
}

// isPlain reports whether the request of x is for a pet with nothing unusual, and valid.
func (x *exchange) isPlain() bool {
	return x.intent.Pet != nil && x.valid() && x.intent.Unusual == ""
}

// wrongCreation says what is wrong if the request of x, a valid pet, does not get 201.
func (x *exchange) wrongCreation() string {
	return x.wrongSuccess("a valid pet is added", http.StatusCreated)
}

// changedCheck returns the check that the response to a new pet does not differ in a
// field from what was sent.
func changedCheck(id, section, title, field string) Check {
	return Check{
		ID: id, Section: section, Title: title, Why: keptExactly, applies: (*exchange).isAdded,
		wrong: func(x *exchange) string {
			if in, diff := x.asSent().Diff(x.pet); in == field {
				return "the response does not show the pet as it was sent: " + diff
			}
			return ""
		},
	}
}

// faultCheck returns the check that bodies which are wrong by it get 400.
func faultCheck(id, section, title, why string, level Level) Check {
	return Check{
		ID: id, Section: section, Title: title, Why: why, Level: level,
		applies: func(x *exchange) bool { return x.intent.FailsCheck == id && x.hasKey() },
		wrong: func(x *exchange) string {
			if x.Status == http.StatusBadRequest || x.tooLarge() || x.Status >= 500 { // of 5xx there is a check
				return ""
			}
			return fmt.Sprintf("the request has %s: the response is %s, want 400", x.intent.Unusual, x.StatusLine())
		},
	}
}

func (x *exchange) wrongPetBody() string {
	if err := x.petErr.Any(); err != nil {
		return "the body is not a Pet: " + err.Error()
	}
	return ""
}

// wrongLocation says what is wrong with the Location of x, a 201.
func (x *exchange) wrongLocation() string {
	location := x.Header.Get("Location")
	if location == "" {
		return "the 201 has no Location"
	}
	base, _ := url.Parse(x.URL)
	u, err := base.Parse(location)
	if err != nil {
		return fmt.Sprintf("the Location %q is not a URL", location)
	}
	u.Fragment = "" // RFC 9110, section 10.2.2
	// The URL of another server may be right.
	if path, ok := strings.CutPrefix(u.String(), x.run.url+"/"); ok && "/"+path != probe.PetPath(x.pet.ID) {
		return fmt.Sprintf("the Location %q is not that of the pet %d", location, x.pet.ID)
	}
	return ""
}
