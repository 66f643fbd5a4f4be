package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// POST /pets (contract, sections 2.1, 2.2 and 4.2).

func createChecks() []Check {
	checks := []Check{
		acceptedCheck("pets.create.status", "create", "POST /pets with a valid pet responds 201", false, "a valid pet is added"),
		acceptedCheck("pets.create.status.absent", "status-optional", "a pet without a status is accepted", true, "a valid pet without a status is added"),
		arguableCheck("pets.create.name.accepted", "name-any", "a short name that can be read is accepted", unusualName, "a valid pet is added"),
		arguableCheck("pets.create.category.accepted", "category-any", "a target that accepts arbitrary categories accepts every int64", unusualCategory, "a valid pet is added, and the target accepts arbitrary categories"),
		{
			ID: "pets.create.same-name", Clause: "create-adds", Title: "two pets may have the same name, or one of them gets 400",
			basic: aboutStatus, idle: true, applies: (*exchange).isNamesake,
			wrong: func(x *exchange) string {
				if x.Succeeded() || x.Status == http.StatusBadRequest {
					return ""
				}
				return fmt.Sprintf("a pet has the name of another one%s: the response is %s, want 201 or 400", x.meanwhile(), x.StatusLine())
			},
		},
		{
			ID: "pets.create.same-name.accepted", Clause: "name-again", Title: "a pet may have the name of another",
			basic: aboutStatus, idle: true, applies: (*exchange).isNamesake,
			wrong: func(x *exchange) string {
				if x.Status == http.StatusBadRequest {
					return "a pet that has the name of another gets " + x.StatusLine()
				}
				return ""
			},
		},
		{
			ID: "pets.create.media-type", Clause: "media-type", Title: "the response to a new pet is application/json",
			basic: aboutShape, applies: func(x *exchange) bool { return x.isNewPet() && x.validHeader() }, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.create.pet", Clause: "pet", Title: "the response to a new pet is the pet",
			basic: aboutShape, applies: (*exchange).isNewPet, wrong: (*exchange).wrongPet,
		},
		{
			ID: "pets.create.id.unique", Clause: "id-unique", Title: "every new pet gets a new id",
			basic: aboutIdentity, applies: (*exchange).isAdded,
			wrongPet: func(x *exchange) (int64, string) {
				if x.twin != nil {
					return x.pet.ID, fmt.Sprintf("another pet of this run has the id %d%s", x.pet.ID, x.meanwhile())
				}
				for q, pets := range x.run.atStart {
					if hasID(pets, x.pet.ID) {
						return x.pet.ID, fmt.Sprintf("a pet that GET %s showed before has the id %d", q.path(), x.pet.ID)
					}
				}
				return 0, ""
			},
		},
		{
			ID: "pets.create.id.listed", Clause: "id", Title: "the id of a new pet is that of the pet in lists",
			basic: aboutIdentity, idle: true, applies: (*exchange).isAdded,
			wrongPet: func(x *exchange) (int64, string) {
				ids := x.run.listedIDs[x.sent.Name]
				if len(ids) == 1 && len(x.run.byName[x.op+x.sent.Name]) == 1 && !ids[x.pet.ID] {
					for id := range ids {
						return x.pet.ID, fmt.Sprintf("the new pet has the id %d, and lists show it with the id %d", x.pet.ID, id)
					}
				}
				return 0, ""
			},
		},
		changedCheck("pets.create.echo", "create", "the response to a new pet shows its name as it was sent", func(x *exchange) bool { return x.isAdded() && !x.hasUnusualName() }, inName),
		changedCheck("pets.create.name", "name", "the response to a new pet shows any name as it was sent", func(x *exchange) bool { return x.isAdded() && x.hasUnusualName() }, inName),
		changedCheck("pets.create.category", "category", "the response to a new pet shows its categoryId as it was sent", (*exchange).isAdded, inCategory),
		changedCheck("pets.create.status.kept", "status-set", "the response to a new pet shows the status that was sent", (*exchange).isAdded, inStatus),
		{
			ID: "pets.create.status.before", Clause: "status-set", Title: "a pet without a status does not get that of the request before",
			basic: aboutValues, applies: (*exchange).hasDefault,
			wrong: func(x *exchange) string {
				before := x.run.leftOver()
				if x.run.before(x) == nil || x.pet.Status == "" || !before[x.pet.Status] || len(before) < len(statuses()) {
					return ""
				}
				return "pets without a status get that of the request before, with each of the three statuses"
			},
		},
		{
			ID: "pets.create.status.default", Clause: "status-default", Title: "all pets that are added without a status get the same one, or none",
			basic: aboutValues, applies: (*exchange).hasDefault,
			wrong: func(x *exchange) string {
				i := slices.IndexFunc(x.run.all, func(y *exchange) bool { return y.hasDefault() && y.sent.Category == x.sent.Category })
				if first := x.run.all[i]; first.pet.Status != x.pet.Status {
					return fmt.Sprintf("a pet that was sent without a status has the status %q, and an earlier one %q", x.pet.Status, first.pet.Status)
				}
				return ""
			},
		},
		{
			ID: "http.location", Clause: "rfc-location", Title: "the response to a new pet has its Location",
			basic: aboutShape, applies: func(x *exchange) bool { return x.isAdded() && x.Status == http.StatusCreated }, wrong: (*exchange).wrongLocation,
		},
	}
	for _, f := range []struct{ id, clause, title string }{
		{"body", "create-body", "a body that is missing or not a JSON object gets 400"},
		{"required", "create-required", "a body without name or without categoryId gets 400"},
		{"values", "create-values", "a body with a value that its field does not allow gets 400"},
		{"status", "status-values", "a body with an unknown status gets 400"},
		{"status.null", "status-null", "a body with null for the status gets 400"},
		{"duplicate", "rfc-duplicates", "a body with a name twice gets 400"},
		{"utf8", "rfc-utf8", "a body that is not UTF-8 gets 400"},
	} {
		checks = append(checks, faultCheck(opCreate, "pets.create.400."+f.id, f.clause, f.title))
	}
	return checks
}

// acceptedCheck returns the check that pets with or without a status get 201.
func acceptedCheck(id, clause, title string, withoutStatus bool, what string) Check {
	return Check{
		ID: id, Clause: clause, Title: title, basic: aboutStatus,
		applies: func(x *exchange) bool {
			if x.sent == nil || !x.valid() || withoutStatus != (x.sent.Status == "" && x.kindOfPet() == plainPet) {
				return false
			}
			otherCheck := x.refusedArguably() || x.isNamesake() && !x.Succeeded()
			return !otherCheck && (x.Succeeded() || x.mustSucceed() || x.Status >= 500 || !x.Served())
		},
		wrong: func(x *exchange) string { return x.wrongSuccess(what+x.meanwhile(), http.StatusCreated) },
	}
}

// arguableCheck returns the check that pets of a kind are not refused.
func arguableCheck(id, clause, title string, kind kindOfPet, what string) Check {
	return Check{
		ID: id, Clause: clause, Title: title,
		basic: aboutStatus, idle: true,
		applies: func(x *exchange) bool {
			return x.sent != nil && x.valid() && x.kindOfPet() == kind && !x.isRepeated() && (x.refusedArguably() || x.Succeeded())
		},
		wrong: func(x *exchange) string {
			if x.Succeeded() {
				return ""
			}
			return x.wrongSuccess(what, http.StatusCreated)
		},
	}
}

// changedCheck returns the check that the response to a new pet does not differ in a
// field from what was sent.
func changedCheck(id, clause, title string, applies func(*exchange) bool, field string) Check {
	return Check{
		ID: id, Clause: clause, Title: title, basic: aboutValues, applies: applies,
		wrongPet: func(x *exchange) (int64, string) {
			if in, diff := x.stored().diff(x.pet); in == field {
				return x.pet.ID, "the response does not show the pet as it was sent: " + diff
			}
			return 0, ""
		},
	}
}

// faultCheck returns the check that requests whose body violates a clause get 400.
func faultCheck(op, id, clause, title string) Check {
	return Check{
		ID: id, Clause: clause, Title: title, basic: aboutStatus,
		applies: func(x *exchange) bool {
			return x.op == op && x.fault != nil && x.fault.clause == clause && x.validHeader() && (op == opSubmit || x.Request.ContentType != "")
		},
		wrong: func(x *exchange) string {
			if x.Status == http.StatusBadRequest || x.Status == http.StatusRequestEntityTooLarge && len(x.Request.Body) >= largeBody {
				return ""
			}
			return fmt.Sprintf("the request has %s: the response is %s, want 400", x.fault.text, x.StatusLine())
		},
	}
}

// isNewPet reports whether the body of x must be the pet that was added.
func (x *exchange) isNewPet() bool { return x.sent != nil && x.Succeeded() }

// isAdded reports whether x shows the id of the pet that was added.
func (x *exchange) isAdded() bool { return x.isNewPet() && x.petErr.id == nil }

func (x *exchange) hasUnusualName() bool { return x.kindOfPet() == unusualName }

// isNamesake reports whether x asks for a pet whose name an earlier request had.
func (x *exchange) isNamesake() bool { return x.sent != nil && x.validHeader() && x.isRepeated() }

// hasDefault reports whether x added a plain pet without a status.
func (x *exchange) hasDefault() bool {
	return x.isAdded() && x.sent.Status == "" && x.exact && x.kindOfPet() == plainPet
}

func (x *exchange) wrongPet() string {
	if err := x.petErr.any(); err != nil {
		return "the body is not a Pet: " + err.Error()
	}
	return ""
}

// meanwhile says for the end of a message that other requests were under way.
func (x *exchange) meanwhile() string {
	if x.Others == 0 {
		return ""
	}
	return fmt.Sprintf(", concurrently with %d other requests", x.Others)
}

// before returns the request for a pet before x. Nil: there is none, or the two were
// under way at the same time.
func (h *history) before(x *exchange) *exchange {
	var before *exchange
	for _, y := range h.all {
		if y == x {
			break
		}
		if y.op == opCreate {
			before = y
		}
	}
	if before == nil || before.Received.After(x.Sent) {
		return nil
	}
	return before
}

// leftOver returns the statuses that pets without a status have shown after a request with
// that status. It returns none if one that was sent right after a pet was added shows another:
// then the target chooses a status in some other way.
func (h *history) leftOver() map[string]bool {
	seen := make(map[string]bool)
	for _, x := range h.all {
		y := h.before(x)
		if y == nil || !x.hasDefault() || x.pet.Status == "" || !strings.Contains(string(y.Request.Body), `"status":"`) {
			continue
		}
		if strings.Contains(string(y.Request.Body), `"status":"`+x.pet.Status+`"`) {
			seen[x.pet.Status] = true
		} else if y.isAdded() {
			return nil
		}
	}
	return seen
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
	if path, ok := strings.CutPrefix(u.String(), x.run.url+"/"); ok && "/"+path != petPath(x.pet.ID) {
		return fmt.Sprintf("the Location %q is not that of the pet %d", location, x.pet.ID)
	}
	return ""
}
