package conformance

import "slices"

// GET /pets (contract, sections 2.2, 2.3 and 4.1).

var listChecks = []Check{
	{"pets.list.status", Required, "1, 4.1", "GET /pets responds 200"},
	{"pets.list.media-type", Required, "4", "a list is application/json"},
	{"pets.list.array", Required, "2.3", "a list is a bare array, and an empty one is []"},
	{"pets.list.pet", Required, "2.2", "every pet in a list has its fields, each of its type"},
	{"pets.list.ids", Required, "2.2", "no two pets in a list have the same id"},
	{"pets.list.filter.only", Required, "3.1, 4.1", "a list with a status has no other pets"},
	{"pets.list.created", Required, "3.1, 4.1, 4.3, 9", "a list contains every pet that was added, and with a status every such pet"},
	{"pets.list.limit.between", Required, "4.1", "no list, filtered or not, has more pets than its limit, or none though there are some"},
	{"pets.list.limit.default", Required, "4.1, 8", "without limit a list has as many pets as with limit=20"},
	{"pets.list.limit.above", Required, "4.1, 8", "no list has more than a hundred pets"},
	{"pets.list.limit.spelling", Recommended, "4.1", "only decimal digits are a limit"},
	{"pets.list.limit.full", Recommended, "4.1, 8", "a list has as many pets as its limit allows, if the store has them"},
	{"pets.list.same", Required, "4.1, 4.3, 9", "a list shows a pet as it was added"},
}

// list requests a list.
func (r *run) list(q query) *exchange { return r.play(r.listing(q)) }

func (r *run) listing(q query) step {
	return step{get(q.path()), func(x *exchange) { r.judgeList(x, &q) }}
}

// judgeList judges x, the response to a request for a list. q is nil if the contract does not say
// what its query means.
func (r *run) judgeList(x *exchange, q *query) {
	if q != nil {
		r.accept("pets.list.status", nil, x, 200, "a list is requested with a valid key")
	}
	if x.status != 200 || !x.judgeable() {
		return
	}
	l := x.list()
	n := len(l.pets)
	r.checkType("pets.list.media-type", x)
	r.check("pets.list.array", x, l.err == nil, "the list: %v", l.err)
	r.check("pets.list.limit.above", x, n <= 100, "the list of GET %s has %d pets, want at most 100", x.request.path, n)
	if l.err != nil {
		return
	}
	if q != nil {
		r.judgeSize(x, *q, l)
		r.judge("pets.list.filter.only", x, r.first(l, func(p pet) finding {
			return unless(p.noID != nil || p.has(q.status), "the list of pets with status %s has another pet", q.status)
		}))
	}
	r.recordList(x, l, q)
	if n == 0 {
		return
	}
	r.judge("pets.list.pet", x, r.first(l, func(p pet) finding {
		return unless(p.err == nil || r.added[p.id].explains(p), "the list has an element that is not a Pet: %v", p.err)
	}))
	seen := make(map[int64]int)
	r.judge("pets.list.ids", x, r.first(l, func(p pet) finding {
		seen[p.id]++
		return unless(seen[p.id] == 1 || p.noID != nil, "two pets in the list have the id %d", p.id)
	}))
	r.judge("pets.integers", x, r.first(l, noFraction))
	r.judge("pets.list.same", x, r.first(l, func(p pet) finding {
		diff := r.added[p.id].differs(p)
		return unless(diff == "", "the list does not show the pet as it was added: %s", diff)
	}))
}

// judgeSize judges how many pets l has. A list may end early if it says how to reach the next
// page, or has fewer than its limit, but it must not be empty while there are pets.
func (r *run) judgeSize(x *exchange, q query, l list) {
	id := "pets.list.limit.between"
	if q.limit == 0 {
		id = "pets.list.limit.default"
	}
	n, most := len(l.pets), q.most()
	earlier := r.filled[q.status]
	if n == 0 && !l.more && earlier != nil && x.sent.Sub(earlier.received) > listPatience {
		r.judge(id, x, wrong("the list is empty, though an earlier one has pets that match").after(earlier))
	} else {
		r.check(id, x, n <= most, "the list has %d pets, want at most %d", n, most)
	}
	must, _ := r.has(q.status, x.sent)
	want := min(most, len(must))
	r.check("pets.list.limit.full", x, n >= want || l.more, "the list has %d pets, want %d: at least %d match", n, want, len(must))
}

// listsAtStart requests lists before the run adds anything.
func (r *run) listsAtStart() {
	lists := r.longestLists()
	for _, status := range anyStatus {
		x := lists[status]
		if l := x.list(); x.status == 200 && x.judgeable() {
			l.pets = slices.DeleteFunc(l.pets, func(p pet) bool { return p.noID != nil })
			r.start[status] = l
			r.old.pets = append(r.old.pets, l.pets...)
		}
	}
	r.findRemoval()
	for _, p := range r.old.pets[:min(5, len(r.old.pets))] {
		r.fetch(p.id)
	}
}

// fillUp adds pets until there are more than a list can show, and of each status more than the default
// limit.
func (r *run) fillUp() {
	pets := r.pets()
	if len(pets) == 0 {
		return
	}
	count := make(map[string]int)
	for _, s := range pets {
		count[s.want.status]++
	}
	var steps []step
	fill := func(status string) {
		n := r.pet(status)
		steps = append(steps, r.creating(add(n), n))
	}
	for _, status := range statuses {
		for range 24 - count[status] {
			fill(status)
		}
	}
	for i := range 132 - len(pets) - len(steps) {
		fill(anyStatus[i%4])
	}
	r.play(steps...)
}

// limits requests lists with limits.
func (r *run) limits() {
	var steps []step
	for _, limit := range []int{1, 2, 10, 19, 20, 21, 50, 99} {
		steps = append(steps, r.listing(query{"", limit}))
	}
	for _, status := range statuses {
		steps = append(steps, r.listing(query{status, 1}), r.listing(query{status, 2}), r.listing(query{status, 3}), r.listing(query{status, 20}))
	}
	for _, q := range unusualQueries {
		steps = append(steps, step{get("/pets?"+q).as("", undefined), func(x *exchange) { r.judgeList(x, nil) }})
	}
	for _, spelling := range spellings(7) {
		steps = append(steps, step{get("/pets?limit="+spelling).as("the limit "+spelling, undefined), func(x *exchange) {
			r.judgeList(x, nil)
			n := len(x.list().pets)
			r.check("pets.list.limit.spelling", x, n != 7 || n == r.longest, "%s is taken for 7", x.request.what)
		}})
	}
	r.play(steps...)
	// A proxy may refuse escapes of letters and digits, but they mean the same (RFC 3986, section 6.2.2.2).
	escaped := func(path string, q query) {
		if x := r.send(get(path).as("escapes in its query", undefined)); x.status == 200 {
			r.judgeList(x, &q)
		}
	}
	escaped("/pets?limit=10%30&status=s%6Fld", query{"sold", 100})
	escaped("/pets?lim%69t=%33", query{"", 3})
	r.judgeList(r.send(get("/pets?status=sold&limit=3")), &query{"sold", 3}) // the others have the limit first
	// Some clients say the type of a body that they do not send.
	typed := get("/pets").as("a Content-Type and no body", success).set(fields{"Content-Type": "application/json"})
	r.judgeList(r.send(typed), &query{})
	r.fetchOldest()
	for _, status := range anyStatus {
		r.defaultLimit(status)
	}
}

// defaultLimit compares lists without a limit, which must not have that of the request before, with
// one whose limit is 20. A target may end lists at random.
func (r *run) defaultLimit(status string) {
	list := func(limit int) (*exchange, int) {
		x := r.list(query{status, limit})
		return x, len(x.list().pets)
	}
	full, twenty := list(20)
	x, n := list(0)
	list(100)
	y, again := list(0)
	if twenty == 20 && n == again && x.status == 200 && y.status == 200 && len(x.body) < largeList {
		r.judge("pets.list.limit.default", x, unless(n == 20, "the list has %d pets, and with limit=20 it has 20", n).after(full))
	}
}
