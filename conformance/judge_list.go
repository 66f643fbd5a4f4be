package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

// listPatience is how long a list may lack a new pet.
const listPatience = 2 * time.Second

func listChecks() []Check {
	lists := func(is func(q listQuery) bool) func(*exchange) bool {
		return func(x *exchange) bool { return x.list.ok && x.query != nil && is(*x.query) }
	}
	return []Check{
		{
			ID: "pets.list.status", Clause: "list", Title: "GET /pets responds 200",
			basic: aboutStatus, applies: func(x *exchange) bool { return x.query != nil && x.valid() && x.Before == nil },
			wrong: func(x *exchange) string { return x.wrongSuccess("a list is requested with a valid key", 200) },
		},
		{
			ID: "pets.list.media-type", Clause: "media-type", Title: "a list is application/json",
			basic: aboutShape, applies: func(x *exchange) bool { return x.isList() && x.validHeader() }, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.list.array", Clause: "array", Title: "a list is a bare array, and an empty one is []",
			basic: aboutShape, applies: (*exchange).isList,
			wrong: func(x *exchange) string {
				if _, err := x.Array(); err != nil {
					return "the list: " + err.Error()
				}
				return ""
			},
		},
		{
			ID: "pets.list.pet", Clause: "pet", Title: "every pet in a list has its fields, each of its type",
			basic: aboutShape, applies: (*exchange).hasElements,
			wrong: func(x *exchange) string {
				if x.list.wrong != "" {
					return "the list has an element that is not a Pet: " + x.list.wrong
				}
				return ""
			},
		},
		{
			ID: "pets.list.ids", Clause: "id-unique", Title: "no two pets in a list have the same id",
			basic: aboutIdentity, applies: (*exchange).hasElements,
			wrongPet: func(x *exchange) (int64, string) {
				seen := make(map[int64]bool)
				for _, p := range x.list.pets {
					if seen[p.ID] {
						return p.ID, fmt.Sprintf("two pets in the list have the id %d%s", p.ID, x.list.show(p.ID))
					}
					seen[p.ID] = true
				}
				return 0, ""
			},
		},
		{
			ID: "pets.create.once", Clause: "create-adds", Title: "a request adds at most one pet",
			basic: aboutIdentity, idle: true, applies: (*exchange).hasElements,
			wrongPet: func(x *exchange) (int64, string) {
				for _, p := range x.list.pets {
					name := x.run.ours.FindString(p.Name)
					if a, ok := x.run.asked[name]; ok && a.pets > 0 && len(x.run.listedIDs[name]) > a.pets {
						return p.ID, fmt.Sprintf("lists have %d pets with a name that %s had%s", len(x.run.listedIDs[name]), probe.Plural(a.pets, "request"), x.list.show(p.ID))
					}
				}
				return 0, ""
			},
		},
		refusedCheck("pets.create.refused", "create-refused", "a request that is refused adds nothing", func(status int) bool { return status != http.StatusUnauthorized }),
		refusedCheck("pets.create.unauthorized", "key-create", "a request without a valid credential adds nothing", func(status int) bool { return status == http.StatusUnauthorized }),
		{
			ID: "pets.list.filter.only", Clause: "filter", Title: "a list with a status has no other pets",
			basic: aboutIdentity, applies: lists(func(q listQuery) bool { return q.status != "" }),
			wrongPet: func(x *exchange) (int64, string) {
				for _, p := range x.list.pets {
					if !p.has(x.query.status) {
						return p.ID, fmt.Sprintf("the list of pets with status %s has another pet%s", x.query.status, x.list.show(p.ID))
					}
				}
				return 0, ""
			},
		},
		lacksCheck("pets.list.filter.all", "filter", "a list with a status has every such pet", true),
		lacksCheck("pets.list.created", "list-shows", "a list contains the pets that were added, of every status", false),
		{
			ID: "pets.list.late", Clause: "list-soon", Title: "a pet is in the list as soon as it is added",
			basic: aboutIdentity, idle: true, applies: (*exchange).isWhole,
			wrongPet: func(x *exchange) (int64, string) {
				for _, c := range x.lacks() {
					if later := x.later(c.pet.ID); later != nil {
						return c.pet.ID, fmt.Sprintf("the list lacks the pet %d, %d ms after it was added; a list %d ms later has it",
							c.pet.ID, x.Sent.Sub(c.Received).Milliseconds(), later.Sent.Sub(x.Sent).Milliseconds())
					}
				}
				return 0, ""
			},
		},
		{
			ID: "pets.list.limit.between", Clause: "limit", Title: "no list has more pets than its limit, or none though there are some",
			basic: aboutIdentity, applies: lists(func(q listQuery) bool { return q.limit != 0 && q.status == "" }), wrong: (*exchange).wrongSize,
		},
		{
			ID: "pets.list.limit.filtered", Clause: "filter-limit", Title: "limit applies to a filtered list, after the filter",
			basic: aboutIdentity, applies: lists(func(q listQuery) bool { return q.limit != 0 && q.status != "" }), wrong: (*exchange).wrongSize,
		},
		{
			ID: "pets.list.limit.default", Clause: "limit-default", Title: "without limit a list has as many pets as with limit=20",
			basic: aboutIdentity, applies: lists(func(q listQuery) bool { return q.limit == 0 }),
			wrong: func(x *exchange) string {
				before, after := false, false // there is a list with 20
				for _, y := range x.run.lists[listQuery{x.query.status, 20}] {
					full := len(y.list.elements) == 20
					before = before || full && y.Received.Before(x.Sent)
					after = after || full && x.Received.Before(y.Sent)
				}
				if n := len(x.list.elements); n < 20 && before && after && len(x.Body) < largeList {
					return fmt.Sprintf("the list has %d pets, and with limit=20 it has 20", n)
				}
				return x.wrongSize()
			},
		},
		{
			ID: "pets.list.limit.above", Clause: "limit-max", Title: "no list has more than a hundred pets",
			basic: aboutIdentity, applies: (*exchange).isList,
			wrong: func(x *exchange) string {
				if n := len(x.list.elements); n > 100 {
					return fmt.Sprintf("the list of GET %s has %d pets, want at most 100", x.Request.Path, n)
				}
				return ""
			},
		},
		{
			ID: "pets.list.limit.full", Clause: "limit-full", Title: "a list has as many pets as its limit allows",
			basic: aboutIdentity, applies: lists(func(q listQuery) bool { return true }),
			wrong: func(x *exchange) string {
				n, most := len(x.list.elements), x.query.most()
				if has := len(x.expected()); n < most && n < has && len(x.Body) < largeList && !hasNext(x.Exchange) {
					return fmt.Sprintf("the list has %d pets, want %d: at least %d match", n, min(most, has), has)
				}
				return ""
			},
		},
		{
			ID: "pets.list.same", Clause: "list-shows", Title: "a list shows a pet as it was added",
			basic: aboutValues, applies: (*exchange).hasElements,
			wrongPet: func(x *exchange) (int64, string) {
				for _, p := range x.list.pets {
					if c := x.run.added[p.ID]; c != nil {
						if _, diff := c.stored().diff(p); diff != "" {
							return p.ID, "the list does not show the pet as it was added: " + diff + x.list.show(p.ID)
						}
					}
				}
				return 0, ""
			},
		},
	}
}

func (x *exchange) hasElements() bool { return len(x.list.elements) > 0 }

// refusedCheck returns the check that no list has a pet whose requests were all
// refused. It applies if is returns true for the status of the last one.
func refusedCheck(id, clause, title string, is func(status int) bool) Check {
	return Check{
		ID: id, Clause: clause, Title: title,
		basic: aboutIdentity, applies: (*exchange).hasElements,
		wrongPet: func(x *exchange) (int64, string) {
			for _, p := range x.list.pets {
				if a := x.run.asked[x.run.ours.FindString(p.Name)]; a.pets == 0 && a.refused != nil && is(a.refused.Status) {
					return p.ID, fmt.Sprintf("the pet %q is in the store, though its request got %s%s", p.Name, a.refused.StatusLine(), x.list.show(p.ID))
				}
			}
			return 0, ""
		},
	}
}

// lacksCheck returns the check that no list that is long enough for every pet that
// matches lacks one forever.
func lacksCheck(id, clause, title string, filtered bool) Check {
	return Check{
		ID: id, Clause: clause, Title: title,
		basic: aboutIdentity, applies: func(x *exchange) bool { return x.isWhole() && filtered == (x.query.status != "") },
		wrongPet: func(x *exchange) (int64, string) {
			for _, c := range x.lacks() {
				if waited := x.Sent.Sub(c.Received); waited > listPatience && x.steady() && !x.shownBefore(c.pet.ID) {
					return c.pet.ID, fmt.Sprintf("the list of %s lacks the pet with the id %d, %.1f s after it was added", probe.Plural(len(x.list.pets), "pet"), c.pet.ID, waited.Seconds())
				}
			}
			return 0, ""
		},
	}
}

// isWhole reports whether x is a list that must have every pet that matches: it seems
// so, another list is longer, so that the target does not end lists here, and no earlier
// list with the same query was longer.
func (x *exchange) isWhole() bool {
	n := len(x.list.elements)
	return x.seemsWhole() && (n < x.run.longest || n == 0) && !slices.ContainsFunc(x.run.lists[*x.query], func(y *exchange) bool {
		return y.Sent.Before(x.Sent) && len(y.list.elements) > n
	})
}

// seemsWhole reports whether x is a list whose limit is 100, which is shorter, and which
// does not say that there are more pets.
func (x *exchange) seemsWhole() bool {
	return x.query != nil && x.query.limit == 100 && x.list.ends
}

// expected returns the creations of the pets of the run that a list must have, if it
// has every pet that matches.
func (x *exchange) expected() []*exchange {
	var all []*exchange
	for id, c := range x.run.added {
		if c != nil && c.pet.ID == id && c.stored().has(x.query.status) && c.Received.Before(x.Sent) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *exchange) int { return a.Received.Compare(b.Received) })
	return all
}

// lacks returns the creations of the pets that x, a whole list, lacks.
func (x *exchange) lacks() []*exchange {
	expected := x.expected()
	if len(expected)+len(x.run.atStart[allPets(x.query.status)]) >= 100 { // a target may return fewer than the limit
		return nil
	}
	return slices.DeleteFunc(expected, func(c *exchange) bool { return hasID(x.list.pets, c.pet.ID) })
}

// later returns a later list with the same query that has the pet. Nil: none has.
func (x *exchange) later(id int64) *exchange {
	for _, y := range x.run.lists[*x.query] {
		if y.Sent.After(x.Sent) && hasID(y.list.pets, id) {
			return y
		}
	}
	return nil
}

// steady reports whether the two lists with the same query before x were as long as x.
// The lists of a target that ends them anywhere are not.
func (x *exchange) steady() bool {
	same := 0
	for _, y := range x.run.lists[*x.query] {
		switch {
		case !y.Sent.Before(x.Sent):
			return same >= 2
		case len(y.list.elements) == len(x.list.elements):
			same++
		default:
			same = 0
		}
	}
	return same >= 2
}

// shownBefore reports whether an earlier list with the same query had the pet.
func (x *exchange) shownBefore(id int64) bool {
	for _, y := range x.run.lists[*x.query] {
		if y.Sent.Before(x.Sent) && hasID(y.list.pets, id) {
			return true
		}
	}
	return false
}

// wrongSize says what is wrong if x, a list, has more pets than its limit, or none
// though an earlier list had one that matches and nothing says how to reach it.
func (x *exchange) wrongSize() string {
	n := len(x.list.elements)
	if n > x.query.most() {
		return fmt.Sprintf("the list has %d pets, want at most %d", n, x.query.most())
	}
	if n > 0 || hasNext(x.Exchange) {
		return ""
	}
	for _, c := range x.expected() {
		if listed, ok := x.run.listedSince[c.pet.ID]; ok && listed.Before(x.Sent) && x.Sent.Sub(c.Received) > time.Second {
			return fmt.Sprintf("the list is empty, but an earlier one had a pet that matches, with the id %d", c.pet.ID)
		}
	}
	return ""
}
