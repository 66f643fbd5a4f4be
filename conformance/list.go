package conformance

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/wire"
)

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
	{"pets.list.refused", Recommended, "4.1, 8", "a limit that is not a number from 1 to 100, and an unknown status, get a 4xx"},
	{"pets.list.limit.full", Recommended, "4.1, 8", "a list has as many pets as its limit allows, if the store has them"},
	{"pets.list.same", Required, "4.1, 4.3, 9", "a list shows a pet as it was added"},
}

// The values of the contract, section 2.4, and those with "" for a pet without one, or a list of any.
var (
	statuses  = []string{"available", "pending", "sold"}
	anyStatus = append(slices.Clone(statuses), "")
)

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
	if x.Status != 200 || !x.judgeable() {
		return
	}
	l := x.List()
	n := len(l.Raw)
	r.checkType("pets.list.media-type", x)
	r.check("pets.list.array", x, l.Err == nil, "the list: %v", l.Err)
	r.check("pets.list.limit.above", x, n <= 100, "the list of GET %s has %d pets, want at most 100", x.request.path, n)
	if l.Err != nil {
		return
	}
	if q != nil {
		r.judgeSize(x, *q, l)
		r.judge("pets.list.filter.only", x, r.first(l, func(p wire.Pet) finding {
			return unless(p.NoID != nil || p.Has(q.status), "the list of pets with status %s has another pet", q.status)
		}))
	}
	r.recordList(x, l, q)
	if n == 0 {
		return
	}
	r.judge("pets.list.pet", x, r.first(l, func(p wire.Pet) finding {
		return unless(p.Err == nil || r.added[p.ID].explains(p), "the list has an element that is not a Pet: %v", p.Err)
	}))
	seen := make(map[int64]int)
	r.judge("pets.list.ids", x, r.first(l, func(p wire.Pet) finding {
		seen[p.ID]++
		return unless(seen[p.ID] == 1 || p.NoID != nil, "two pets in the list have the id %d", p.ID)
	}))
	r.judge("pets.integers", x, r.first(l, noFraction))
	r.judge("pets.list.same", x, r.first(l, func(p wire.Pet) finding {
		diff := r.added[p.ID].differs(p)
		return unless(diff == "", "the list does not show the pet as it was added: %s", diff)
	}))
}

// judgeSize judges how many pets l has. A list may end early if it says how to reach the next
// page, or has fewer than its limit, but it must not be empty while there are pets.
func (r *run) judgeSize(x *exchange, q query, l wire.List) {
	id := "pets.list.limit.between"
	if q.limit == 0 {
		id = "pets.list.limit.default"
	}
	n, most := len(l.Raw), q.most()
	earlier := r.filled[q.status]
	if n == 0 && !l.More && earlier != nil && x.Sent.Sub(earlier.Received) > listPatience {
		r.judge(id, x, wrong("the list is empty, though an earlier one has pets that match").after(earlier))
	} else {
		r.check(id, x, n <= most, "the list has %d pets, want at most %d", n, most)
	}
	must, _ := r.has(q.status, x.Sent)
	want := min(most, len(must))
	r.check("pets.list.limit.full", x, n >= want || l.More, "the list has %d pets, want %d: at least %d match", n, want, len(must))
}

// listsAtStart requests lists before the run adds anything.
func (r *run) listsAtStart() {
	lists := r.lists(100)
	for _, status := range anyStatus {
		x := lists[status]
		if l := x.List(); x.Status == 200 && x.judgeable() {
			l.Pets = slices.DeleteFunc(l.Pets, func(p wire.Pet) bool { return p.NoID != nil })
			r.start[status] = l
			r.old.Pets = append(r.old.Pets, l.Pets...)
		}
	}
	r.findRemoval()
	for _, p := range r.old.Pets[:min(5, len(r.old.Pets))] {
		r.queue(r.fetching(p.ID))
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
		count[s.want.Status]++
	}
	fill := func(status string) {
		n := r.pet(status)
		r.queue(r.creating(add(n), n))
	}
	for _, status := range statuses {
		for range 24 - count[status] {
			fill(status)
		}
	}
	for i := range 132 - len(pets) - len(r.queued) {
		fill(anyStatus[i%4])
	}
	r.play()
}

// limits requests lists with limits.
func (r *run) limits() {
	for _, limit := range []int{1, 2, 10, 19, 20, 21, 50, 99} {
		r.queue(r.listing(query{"", limit}))
	}
	for _, status := range statuses {
		r.queue(r.listing(query{status, 1}), r.listing(query{status, 2}), r.listing(query{status, 3}), r.listing(query{status, 20}))
	}
	for _, q := range unusualQueries {
		r.queue(step{get("/pets?"+q).as("", undefined), func(x *exchange) { r.judgeList(x, nil) }})
	}
	refused := refusedQueries
	for _, spelling := range spellings(7) {
		refused = append(refused, "limit="+spelling)
	}
	for _, q := range refused {
		r.queue(step{get("/pets?"+q).as("", undefined), func(x *exchange) {
			r.judgeList(x, nil)
			if x.Status < 500 { // of 5xx there is a check
				r.check("pets.list.refused", x, x.refused(), "the response to GET %s is %s, want 4xx", x.request.path, x.StatusLine())
			}
		}})
	}
	// A proxy may refuse escapes of letters and digits, but they mean the same (RFC 3986, section 6.2.2.2).
	escaped := func(path string, q query) step {
		return step{get(path).as("escapes in its query", undefined), func(x *exchange) {
			if x.Status == 200 {
				r.judgeList(x, &q)
			}
		}}
	}
	r.queue(escaped("/pets?limit=10%30&status=s%6Fld", query{"sold", 100}), escaped("/pets?lim%69t=%33", query{"", 3}))
	r.queue(step{get("/pets?status=sold&limit=3"), func(x *exchange) { r.judgeList(x, &query{"sold", 3}) }}) // the others have the limit first
	// Some clients say the type of a body that they do not send.
	typed := get("/pets").as("a Content-Type and no body", success).set(fields{"Content-Type": "application/json"})
	r.queue(step{typed, func(x *exchange) { r.judgeList(x, &query{}) }})
	r.fetchOldest()
	r.play()
	r.defaultLimits()
}

// defaultLimits compares lists without a limit, which must not have that of the request before, with
// those whose limit is 20. If they differ, it waits and compares again, since lists may lag behind. A
// target may end lists at random.
func (r *run) defaultLimits() {
	for _, judge := range []bool{false, true} {
		full, first := r.lists(20), r.lists(0)
		r.lists(100) // another limit
		second := r.lists(0)
		differ := false
		for _, status := range anyStatus {
			x, l := first[status], first[status].List()
			n := len(l.Pets)
			if len(full[status].List().Pets) != 20 || x.Status != 200 || l.Large || len(second[status].List().Pets) != n {
				continue
			}
			differ = differ || n != 20
			if judge || n == 20 {
				r.judge("pets.list.limit.default", x, unless(n == 20, "the list has %d pets, and with limit=20 it has 20", n).after(full[status]))
			}
		}
		if judge || !differ {
			return
		}
		r.wait()
	}
}

// refusedQueries are queries of GET /pets that the contract does not allow. A 400 is only of POST there, so
// it is recommended that they are refused.
var refusedQueries = []string{"limit=0", "limit=101", "limit=-1", "limit=abc", "status=lost"}

// unusualQueries are queries of GET /pets of which the contract does not say what they
// mean. No list may have more than 100 pets.
var unusualQueries = []string{
	"limit=1000", "limit=9223372036854775808", "limit=99999999999999999999", "limit=1&limit=1000", "limit=1e1", "limit=1.5",
	"limit=", "limit=%22", "limit=1&limit=2", "limit%5B%5D=1",
	"status=", "status=AVAILABLE", "status=a%22b", "status=a%5Cc", "status=%00", "status=%FF",
	"status='", "status=sold&status=pending", "status=" + strings.Repeat("a", 96), "status%5B%5D=sold",
	"%zz", "=", "cursor=x", "offset=-1", "page=-1", "color=red",
}

// query is a query of GET /pets.
type query struct {
	status string // "": absent
	limit  int    // 0: absent
}

func (q query) path() string {
	v := make(url.Values)
	if q.limit != 0 {
		v.Set("limit", strconv.Itoa(q.limit))
	}
	if q.status != "" {
		v.Set("status", q.status)
	}
	return strings.TrimSuffix("/pets?"+v.Encode(), "?")
}

// most returns the largest number of pets that the list may have.
func (q query) most() int { return cmp.Or(q.limit, 20) }
