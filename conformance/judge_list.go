package conformance

import (
	"cmp"
	"fmt"
	"slices"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

func listChecks() []Check {
	lists := func(is func(q probe.ListQuery) bool) func(*exchange) bool {
		return func(x *exchange) bool { return x.list.OK && x.query != nil && is(*x.query) }
	}
	return []Check{
		{
			ID: "pets.list.status", Section: "1, 4.1", Title: "GET /pets responds 200",
			Why:     "It is the only way to see what the store has.",
			applies: func(x *exchange) bool { return x.query != nil && x.valid() },
			wrongAfter: func(x *exchange) (*exchange, string) {
				return x.mayBeBrokenBy(), x.wrongSuccess("a list is requested with a valid key", 200)
			},
		},
		{
			ID: "pets.list.media-type", Section: "4", Title: "a list is application/json",
			Why: byMediaType, applies: func(x *exchange) bool { return x.isList() && x.hasKey() }, wrong: (*exchange).wrongType,
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
				for _, e := range x.list.Wrong {
					if c := x.run.addedBy(e.Pet.ID); !followsFrom(c, e.Pet) {
						return c, "the list has an element that is not a Pet: " + e.Text
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.ids", Section: "2.2", Title: "no two pets in a list have the same id",
			Why: "If two pets have the same id, one hides the other.", applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				seen := make(map[int64]bool)
				for _, p := range x.list.Pets {
					if seen[p.ID] {
						return x.run.addedBy(p.ID), fmt.Sprintf("two pets in the list have the id %d%s", p.ID, x.list.Show(p.ID))
					}
					seen[p.ID] = true
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.filter.only", Section: "3.1, 4.1", Title: "a list with a status has no other pets",
			Why:     "A client would use pets that it did not ask for.",
			applies: lists(func(q probe.ListQuery) bool { return q.Status != "" }),
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.Pets {
					if !p.Has(x.query.Status) {
						return x.run.addedBy(p.ID),
							fmt.Sprintf("the list of pets with status %s has another pet%s", x.query.Status, x.list.Show(p.ID))
					}
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.created", Section: "3.1, 4.1, 4.3, 9",
			Title: "a list contains every pet that was added, and with a status every such pet",
			Why:   findsPets, applies: (*exchange).isComplete,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.content().must {
					if probe.HasID(x.list.Pets, p.ID) {
						continue
					}
					first := x.run.firstShown[p.ID]
					return first, fmt.Sprintf("the list of %s lacks the pet with the id %d, %.1f s after the store had it",
						probe.Plural(len(x.list.Elements), "pet"), p.ID, x.Sent.Sub(first.Received).Seconds())
				}
				return nil, ""
			},
		},
		{
			ID: "pets.list.limit.between", Section: "4.1",
			Title:   "no list, filtered or not, has more pets than its limit, or none though there are some",
			Why:     pageSize,
			applies: lists(func(q probe.ListQuery) bool { return q.Limit != 0 }), wrongAfter: (*exchange).wrongSize,
		},
		{
			ID: "pets.list.limit.default", Section: "4.1, 8", Title: "without limit a list has as many pets as with limit=20",
			Why: pageSize, applies: lists(func(q probe.ListQuery) bool { return q.Limit == 0 }),
			wrongAfter: func(x *exchange) (*exchange, string) {
				if full := x.run.endsAt(*x.query); full != nil {
					return full, fmt.Sprintf("the list has %d pets, and with limit=20 it has 20", len(x.list.Elements))
				}
				return x.wrongSize()
			},
		},
		{
			ID: "pets.list.limit.above", Section: "4.1, 8", Title: "no list has more than a hundred pets",
			Why: "One request must not read the whole store.", applies: (*exchange).isList,
			wrong: func(x *exchange) string {
				if n := len(x.list.Elements); n > 100 {
					return fmt.Sprintf("the list of GET %s has %d pets, want at most 100", x.Request.Path, n)
				}
				return ""
			},
		},
		{
			ID: "pets.list.limit.spelling", Section: "4.1", Title: "only decimal digits are a limit", Level: Recommended,
			Why: "A client learns of its mistake only if its limit is refused.", applies: func(x *exchange) bool {
				return x.op == probe.ListPets && x.intent.Spelled != 0
			},
			wrong: func(x *exchange) string {
				if n := int64(len(x.list.Elements)); n != x.intent.Spelled || n == int64(x.run.longest) {
					return ""
				}
				return fmt.Sprintf("%s is taken for %d", x.intent.Unusual, x.intent.Spelled)
			},
		},
		{
			ID: "pets.list.limit.full", Section: "4.1, 8",
			Title: "a list has as many pets as its limit allows, if the store has them", Level: Recommended,
			Why:     "A client that gets fewer pets takes the list for complete.",
			applies: lists(func(q probe.ListQuery) bool { return true }),
			wrong: func(x *exchange) string {
				n, has := len(x.list.Elements), len(x.content().must)
				want := min(x.query.Most(), has)
				if n >= want || x.list.More {
					return ""
				}
				return fmt.Sprintf("the list has %d pets, want %d: at least %d match", n, want, has)
			},
		},
		{
			ID: "pets.list.same", Section: "4.1, 4.3, 9", Title: "a list shows a pet as it was added",
			Why: findsPets, applies: (*exchange).hasElements,
			wrongAfter: func(x *exchange) (*exchange, string) {
				for _, p := range x.list.Pets {
					if c := x.run.added[p.ID]; c != nil {
						if _, diff := c.differs(p); diff != "" {
							return c, "the list does not show the pet as it was added: " + diff + x.list.Show(p.ID)
						}
					}
				}
				return nil, ""
			},
		},
	}
}

// content is what the store has of the pets that match a query.
type content struct {
	must []probe.Pet // it has these
	may  int         // it has at most so many; from 100 on: or more
}

// content returns what the store has when the list x is requested: the pets that were there
// before the run, which no one removes, and those that the run has added. A new pet may be
// missing for as long as ListPatience.
func (x *exchange) content() content {
	status := x.query.Status
	before, known := x.run.atStart[probe.LongestList(status)]
	c := content{must: slices.Clone(before.Pets), may: len(before.Elements)}
	if !known || before.More {
		c.may = 100
	}
	for _, p := range x.run.posts {
		switch {
		case p.Refused() || p.Sent.After(x.Received):
			continue // it added nothing, or not yet
		case !p.isAdded() || x.run.added[p.pet.ID] != p:
			c.may++ // it is not known whether it added a pet, and which
		case status != "" && !p.keeps():
			c.may++ // it is not known with which status
		case !p.asSent().Has(status):
			continue
		case x.Sent.Sub(p.Received) > stimuli.ListPatience:
			c.must = append(c.must, p.asSent())
			c.may++
		default:
			c.may++ // it is new
		}
	}
	return c
}

// isComplete reports whether the list x must have every pet that the store has: its limit is
// 100, there are fewer, and it does not say that there are more. If another list of the run is
// not longer, the target may end every list there.
func (x *exchange) isComplete() bool {
	if x.query == nil || x.query.Limit != 100 || !x.list.OK || x.list.More {
		return false
	}
	n := len(x.list.Elements)
	c := x.content()
	return c.may < 100 && len(c.must) > 0 && (n == 0 || n < x.run.longest)
}

// wrongSize says what is wrong if x, a list, has more pets than its limit, or none though an
// earlier list with its status, which it returns, had some and nothing says how to reach them.
func (x *exchange) wrongSize() (earlier *exchange, wrong string) {
	n := len(x.list.Elements)
	if n > x.query.Most() {
		return nil, fmt.Sprintf("the list has %d pets, want at most %d", n, x.query.Most())
	}
	if n > 0 || x.list.More {
		return nil, ""
	}
	for _, y := range x.run.all {
		older := x.Sent.Sub(y.Received) > stimuli.ListPatience
		if older && y.query != nil && y.query.Status == x.query.Status && y.hasElements() {
			return y, "the list is empty, though an earlier one has pets that match"
		}
	}
	return nil, ""
}

// endsAt returns a list with limit=20 that has 20 pets, if all lists with q, which has no limit,
// that were requested after it have the same smaller number. Nil: they do not, or there is only
// one, as a target may end lists at random.
func (h *history) endsAt(q probe.ListQuery) (full *exchange) {
	sizes := make(map[int]int)
	for _, x := range h.all {
		switch {
		case x.query == nil || len(x.Body) >= probe.LargeList:
		case *x.query == q && full != nil:
			sizes[len(x.list.Elements)]++
		case *x.query == probe.ListQuery{Status: q.Status, Limit: 20} && len(x.list.Elements) == 20:
			full = cmp.Or(full, x)
		case *x.query == probe.ListQuery{Status: q.Status, Limit: 20} && full != nil:
			return nil
		}
	}
	for n, lists := range sizes {
		if len(sizes) == 1 && n < 20 && lists > 1 {
			return full
		}
	}
	return nil
}

// mayBeBrokenBy returns the creation that may be why x, a list, fails: the last one before x that
// got a 5xx since the same list succeeded, and otherwise the last one that succeeded. Nil: there
// is none.
func (x *exchange) mayBeBrokenBy() *exchange {
	var failed, last *exchange
	for _, y := range x.run.all {
		switch {
		case !y.Received.Before(x.Sent):
		case y.isList() && y.query != nil && *y.query == *x.query:
			failed = nil
		case y.op == probe.CreatePet && y.Status >= 500:
			failed = y
		case y.op == probe.CreatePet && y.Succeeded():
			last = y
		}
	}
	return cmp.Or(failed, last)
}
