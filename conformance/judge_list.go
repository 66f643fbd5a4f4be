package conformance

import (
	"fmt"
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
			ID: "pets.list.status", Section: "1, 4.1", Title: "GET /pets responds 200",
			Why: "It is the only way to see what the store has.", applies: func(x *exchange) bool { return x.query != nil && x.valid() && x.afterSurrogate() == nil },
			wrongAfter: func(x *exchange) (*exchange, string) {
				return x.spoiler(), x.wrongSuccess("a list is requested with a valid key", 200)
			},
		},
		{
			ID: "pets.list.media-type", Section: "4", Title: "a list is application/json",
			Why: byMediaType, applies: func(x *exchange) bool { return x.isList() && x.validHeader() }, wrong: (*exchange).wrongType,
		},
		{
			ID: "pets.list.array", Section: "2.3", Title: "a list is a bare array, and an empty one is []",
			Why: "A client that expects an array cannot read an object around it, or null.", applies: (*exchange).isList,
			wrong: func(x *exchange) string {
				if _, err := x.Array(); err != nil {
					return "the list: " + err.Error()
				}
				return ""
			},
		},
		{
			ID: "pets.list.pet", Section: "2.2", Title: "every pet in a list has its fields, each of its type",
			Why: typed, applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				if x.list.wrong != "" {
					return x.run.addedBy(x.list.wrongID), "the list has an element that is not a Pet: " + x.list.wrong
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.ids", Section: "2.2", Title: "no two pets in a list have the same id",
			Why: "If two pets have the same id, one hides the other.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				seen := make(map[int64]bool)
				for _, p := range x.list.pets {
					if seen[p.ID] {
						return x.run.addedBy(p.ID), fmt.Sprintf("two pets in the list have the id %d%s", p.ID, x.list.show(p.ID))
					}
					seen[p.ID] = true
				}
				return nil, ""
			},
		},
		{
			ID: "pets.create.once", Section: "4.2", Title: "a request adds at most one pet",
			Why: "A client would have more pets than it added.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.pets {
					name := x.run.ours.FindString(p.Name)
					if a, ok := x.run.asked[name]; ok && a.pets > 0 && len(x.run.listedIDs[name]) > a.pets {
						return x.run.addedBy(p.ID), fmt.Sprintf("lists have %d pets with a name that %s had%s", len(x.run.listedIDs[name]), probe.Plural(a.pets, "request"), x.list.show(p.ID))
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.create.refused", Section: "4.2, 5", Title: "a request that is refused adds nothing",
			Why: "A client that corrects its request and repeats it would have the pet twice.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.pets {
					if a := x.run.asked[x.run.ours.FindString(p.Name)]; a.pets == 0 && a.refused != nil {
						return a.refused, fmt.Sprintf("the pet %q is in the store, though its request got %s%s", p.Name, a.refused.StatusLine(), x.list.show(p.ID))
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.filter.only", Section: "3.1, 4.1", Title: "a list with a status has no other pets",
			Why: "A client would use pets that it did not ask for.", applies: lists(func(q listQuery) bool { return q.status != "" }),
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.pets {
					if !p.has(x.query.status) {
						return x.run.addedBy(p.ID), fmt.Sprintf("the list of pets with status %s has another pet%s", x.query.status, x.list.show(p.ID))
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.created", Section: "3.1, 4.1, 4.3, 9", Title: "a list contains every pet that was added, and with a status every such pet",
			Why: findsPets, applies: (*exchange).mustHave,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, c := range x.missing() {
					if waited := x.Sent.Sub(c.Received); waited > listPatience && x.isConfirmed(c) {
						return c, fmt.Sprintf("the list of %s lacks the pet with the id %d, %.1f s after it was added", probe.Plural(len(x.list.pets), "pet"), c.pet.ID, waited.Seconds())
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.late", Section: "4.1", Title: "a pet is in the list as soon as it is added", Level: Recommended,
			Why: "A client that adds a pet and then lists expects to see it.", applies: (*exchange).mustHave,
			wrongAfter: func(x *exchange) (*exchange, string) {
				_, later := x.sameQuery()
				for _, c := range x.missing() {
					if i := slices.IndexFunc(later, c.isIn); i >= 0 {
						return c, fmt.Sprintf("the list lacks the pet %d, %d ms after it was added; a list %d ms later has it",
							c.pet.ID, x.Sent.Sub(c.Received).Milliseconds(), later[i].Sent.Sub(x.Sent).Milliseconds())
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.limit.between", Section: "4.1", Title: "no list, filtered or not, has more pets than its limit, or none though there are some",
			Why: pageSize, applies: lists(func(q listQuery) bool { return q.limit != 0 }), wrongAfter: (*exchange).wrongSize,
		},
		{
			ID: "pets.list.limit.default", Section: "4.1, 8", Title: "without limit a list has as many pets as with limit=20",
			Why: pageSize, applies: lists(func(q listQuery) bool { return q.limit == 0 }),
			wrongAfter: func(x *exchange) (*exchange, string) {
				var before, after *exchange // a list with 20
				for _, y := range x.run.lists[listQuery{x.query.status, 20}] {
					switch full := len(y.list.elements) == 20; {
					case full && y.Received.Before(x.Sent):
						before = y
					case full && x.Received.Before(y.Sent):
						after = y
					}
				}
				if n := len(x.list.elements); n < 20 && before != nil && after != nil && len(x.Body) < largeList && !x.run.endsListsEarly() {
					return before, fmt.Sprintf("the list has %d pets, and with limit=20 it has 20", n)
				}
				return x.wrongSize()
			},
		},
		{
			ID: "pets.list.limit.above", Section: "4.1, 8", Title: "no list has more than a hundred pets",
			Why: "One request must not read the whole store.", applies: (*exchange).isList,
			wrong: func(x *exchange) string {
				if n := len(x.list.elements); n > 100 {
					return fmt.Sprintf("the list of GET %s has %d pets, want at most 100", x.Request.Path, n)
				}
				return ""
			},
		},
		{
			ID: "pets.list.limit.full", Section: "4.1, 8", Title: "a list has as many pets as its limit allows, if the store has them", Level: Recommended,
			Why: "A client that gets fewer pets takes the list for complete.", applies: lists(func(q listQuery) bool { return true }),
			wrong: func(x *exchange) string {
				if !x.isIncomplete() || len(x.Body) >= largeList || hasNext(x.Exchange) {
					return ""
				}
				has := len(x.matching(0))
				return fmt.Sprintf("the list has %d pets, want %d: at least %d match", len(x.list.elements), min(x.query.most(), has), has)
			},
		},
		{
			ID: "pets.list.same", Section: "4.1, 4.3, 9", Title: "a list shows a pet as it was added",
			Why: findsPets, applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.pets {
					if c := x.run.added[p.ID]; c != nil {
						if _, diff := c.stored().diff(p); diff != "" {
							return c, "the list does not show the pet as it was added: " + diff + x.list.show(p.ID)
						}
					}
				}
				return nil, ""
			},
		},
	}
}

// When a list lacks a pet. A target may end a list before its limit, and the contract states
// no order, so most lists need not have a certain pet. Only a list that isWhole must have all
// pets that are matching, if there are fewer than a list can have: then it mustHave them. Each
// one that it does not have is missing, and then
//   - late, if a later list with the same query has it (pets.list.late);
//   - lost, if the list was requested more than listPatience after the pet was added, and
//     earlier lists show that this is not chance: isConfirmed (pets.list.created).

// isWhole reports whether x is a list that must have every pet that matches: it isShort, and
// the target does not end lists there, because another list is longer, and none of the
// earlier lists with the same query is.
func (x *exchange) isWhole() bool {
	n := len(x.list.elements)
	if !x.isShort() || n >= x.run.longest && n > 0 {
		return false
	}
	earlier, _ := x.sameQuery()
	return !slices.ContainsFunc(earlier, func(y *exchange) bool { return len(y.list.elements) > n })
}

// isShort reports whether x is a list whose limit is 100, which is shorter, and which
// does not say that there are more pets.
func (x *exchange) isShort() bool {
	return x.query != nil && x.query.limit == 100 && x.list.ends
}

// isIncomplete reports whether x is a list with fewer pets than its limit allows and match.
func (x *exchange) isIncomplete() bool {
	return len(x.list.elements) < min(x.query.most(), len(x.matching(0)))
}

// endsListsEarly reports whether a list with a limit is shorter than it may be.
func (h *history) endsListsEarly() bool {
	return slices.ContainsFunc(h.all, func(x *exchange) bool {
		return x.isList() && x.query != nil && x.query.limit != 0 && x.isIncomplete()
	})
}

// matching returns the creations of the pets of the run that match the query of x and were
// older than age when it was sent.
func (x *exchange) matching(age time.Duration) []*exchange {
	var all []*exchange
	for id, c := range x.run.added {
		if c != nil && c.pet.ID == id && c.stored().has(x.query.status) && x.Sent.Sub(c.Received) > age {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *exchange) int { return a.Received.Compare(b.Received) })
	return all
}

// mustHave reports whether x is a list that must have certain pets.
func (x *exchange) mustHave() bool {
	return x.isWhole() && len(x.matching(0)) > 0 && x.hasRoom()
}

// hasRoom reports whether there are fewer pets that match the query of x than a list can
// have. A target may return fewer than that.
func (x *exchange) hasRoom() bool {
	return len(x.matching(0))+len(x.run.atStart[allPets(x.query.status)]) < 100
}

// missing returns the creations of the matching pets that x, a short list, lacks. It
// returns none unless x hasRoom for all.
func (x *exchange) missing() []*exchange {
	if !x.hasRoom() {
		return nil
	}
	return slices.DeleteFunc(x.matching(0), func(c *exchange) bool { return c.isIn(x) })
}

// isConfirmed reports whether earlier lists with the same query lack the pet that c added as
// x does: none has it, and the last two are as long as x. Otherwise the target may just return
// other pets each time, or end lists anywhere.
func (x *exchange) isConfirmed(c *exchange) bool {
	earlier, _ := x.sameQuery()
	last := earlier[max(0, len(earlier)-2):]
	return len(last) == 2 && !slices.ContainsFunc(earlier, c.isIn) &&
		!slices.ContainsFunc(last, func(y *exchange) bool { return len(y.list.elements) != len(x.list.elements) })
}

// isIn reports whether list contains the pet that c added.
func (c *exchange) isIn(list *exchange) bool { return hasID(list.list.pets, c.pet.ID) }

// wrongSize says what is wrong if x, a list, has more pets than its limit, or none
// though an earlier list, which it returns, had one that matches and nothing says how to
// reach it.
func (x *exchange) wrongSize() (*exchange, string) {
	n := len(x.list.elements)
	if n > x.query.most() {
		return nil, fmt.Sprintf("the list has %d pets, want at most %d", n, x.query.most())
	}
	if n > 0 || hasNext(x.Exchange) {
		return nil, ""
	}
	for _, c := range x.matching(listPatience) {
		if i := slices.IndexFunc(x.run.all, func(y *exchange) bool { return c.isIn(y) && y.Received.Before(x.Sent) }); i >= 0 {
			return x.run.all[i], fmt.Sprintf("the list is empty, but an earlier one had a pet that matches, with the id %d", c.pet.ID)
		}
	}
	return nil, ""
}
