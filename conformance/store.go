package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// store is what a run knows of the pets of the target.
type store struct {
	start map[string]list   // the longest list with each status ("": with any) before the run
	old   list              // the pets that they show
	posts []*exchange       // every request for a pet
	added map[int64]*stored // what a response to one of them shows, by ID
	order []*stored         // those for valid requests

	unclear int                  // how many requests may have added a pet whose ID is not known
	listed  map[int64]*exchange  // the first list that shows a pet
	filled  map[string]*exchange // the first list with a status ("": with any) that is not empty
	longest int                  // how many pets the longest list has
}

func newStore() store {
	return store{
		start: make(map[string]list), added: make(map[int64]*stored),
		listed: make(map[int64]*exchange), filled: make(map[string]*exchange),
	}
}

// stored is a pet that a response to POST /pets shows.
type stored struct {
	by    *exchange
	shown pet // in the response

	want *pet // as it must be in the store since then; nil: the request was wrong, or another pet has the ID
	kept bool // the response shows it so
}

// differs says how p, which a later response shows, differs from s. If the response to the creation
// did not show the pet as it was sent, a later one may show it in either way.
func (s *stored) differs(p pet) string {
	if s == nil || s.want == nil || s.shown.written == p.written {
		return ""
	}
	_, text := s.want.diff(p)
	return text
}

// explains reports whether what is wrong with p, which a later response shows, is a fault of the
// creation: it has accepted a wrong body, or shows the pet in the same way.
func (s *stored) explains(p pet) bool {
	return s != nil && (s.want == nil || s.shown.written == p.written)
}

// creation returns the exchange that added s.
func (s *stored) creation() *exchange {
	if s == nil {
		return nil
	}
	return s.by
}

// shown reports whether a response has shown that there is a pet with the ID.
func (r *run) shown(id int64) bool { return r.added[id] != nil || r.listed[id] != nil }

func (s *store) recordPost(x *exchange) {
	s.posts = append(s.posts, x)
	p := x.pet()
	switch {
	case x.refused():
		return
	case !x.succeeded() || p.noID != nil || s.added[p.id] != nil:
		s.unclear++
	default:
		s.added[p.id] = &stored{by: x, shown: p}
	}
}

// keep records that x has added n, and returns the pet as it must be in the store, and another
// exchange that shows a pet with its ID, if any.
func (r *run) keep(x *exchange, n newPet) (want pet, same *exchange) {
	p := x.pet()
	if n.status == "" {
		n.status = p.status // the contract leaves a default open
	}
	want = pet{id: p.id, newPet: n}
	s, listed := r.added[p.id], r.listed[p.id]
	switch {
	case s.by != x:
		s.want = nil // it is not known which of the two has the ID
		return want, s.by
	case listed != nil && listed.received.Before(x.sent):
		return want, listed
	}
	_, diff := want.diff(p)
	s.want, s.kept = &want, diff == "" && p.err == nil
	r.order = append(r.order, s)
	return want, nil
}

// pets returns the pets that the run has added with valid requests.
func (r *run) pets() []*stored {
	return slices.DeleteFunc(slices.Clone(r.order), func(s *stored) bool { return s.want == nil })
}

// anID returns the ID of a pet that the target has, or else 1.
func (r *run) anID() int64 {
	if pets := r.pets(); len(pets) > 0 {
		return pets[0].want.id
	}
	if len(r.old.pets) > 0 {
		return r.old.pets[0].id
	}
	return 1
}

func (r *run) recordList(x *exchange, l list, q *query) {
	r.longest = max(r.longest, len(l.pets))
	for _, p := range l.pets {
		if r.listed[p.id] == nil && p.noID == nil {
			r.listed[p.id] = x
		}
	}
	if q != nil && r.filled[q.status] == nil && len(l.pets) > 0 {
		r.filled[q.status] = x
	}
}

// has returns the pets with a status ("": with any) that a list at that time must have, if it is long
// enough, and how many it may have at most. From 100 on, it may be more.
func (r *run) has(status string, at time.Time) (must []pet, may int) {
	start, known := r.start[status]
	must, may = slices.Clone(start.pets), len(start.pets)+r.unclear
	if !known || start.more {
		may = 100
	}
	for _, s := range r.added {
		clear := s.want != nil && (s.kept || status == "")
		if clear && !s.want.has(status) {
			continue
		}
		may++
		if clear && at.Sub(s.by.received) > listPatience {
			must = append(must, *s.want)
		}
	}
	return must, may
}

// look judges whether the longest lists have every pet, and no other one. If a pet is missing, it
// waits and looks again, since lists may lag behind.
func (r *run) look() {
	lists := r.longestLists()
	lacks := func(status string) bool {
		l := lists[status].list()
		missing := func(s *stored) bool { return s.want.has(status) && !l.has(s.want.id) }
		return len(l.pets) < 100 && !l.more && slices.ContainsFunc(r.pets(), missing)
	}
	if slices.ContainsFunc(anyStatus, lacks) {
		r.wait()
		lists = r.longestLists()
	}
	for _, status := range anyStatus {
		x := lists[status]
		l := x.list()
		r.judgeStrays(x, l)
		must, may := r.has(status, x.sent)
		if x.status != 200 || l.err != nil || l.more || may >= 100 || len(must) == 0 {
			continue
		}
		n, missing := len(l.pets), finding{}
		if i := slices.IndexFunc(must, func(p pet) bool { return !l.has(p.id) }); i >= 0 {
			missing = wrong("the list of %s lacks the pet with the id %d, though the store has had it for two seconds", plural(n, "pet"), must[i].id)
		}
		// The target may end every list at a length of its own. Only longer lists show that it does not.
		r.atEnd = append(r.atEnd, func() {
			if n == 0 || n < r.longest {
				r.judge("pets.list.created", x, missing)
			}
		})
	}
}

func (r *run) longestLists() map[string]*exchange {
	lists := make(map[string]*exchange)
	for _, status := range anyStatus {
		lists[status] = r.list(query{status, 100})
	}
	return lists
}

// judgeStrays judges whether the list l has a pet that no response shows, although each request for a
// pet with its name was refused, or has added another one.
func (r *run) judgeStrays(x *exchange, l list) {
	if len(l.pets) == 0 {
		return
	}
	var twice, refused finding
	for _, p := range l.pets {
		ours := strings.Contains(p.name, r.mark)
		if r.added[p.id] != nil || p.noID != nil || r.old.has(p.id) || len(r.old.pets) > 0 && !ours {
			continue
		}
		ofName := slices.DeleteFunc(slices.Clone(r.posts), func(y *exchange) bool {
			q := y.request // a target may have changed what is not the mark and three letters
			return !(q.name == p.name && q.valid() || strings.HasPrefix(q.name, r.mark) && strings.Contains(p.name, q.name))
		})
		mayHaveAdded := func(y *exchange) bool {
			id, ok := y.addedID()
			return !y.refused() && (!ok || r.added[id].by != y)
		}
		i := slices.IndexFunc(ofName, (*exchange).refused)
		switch {
		case slices.ContainsFunc(ofName, mayHaveAdded):
		case i >= 0:
			refused = wrong("the pet %q is in the store, though its request got %s", p.name, ofName[i].statusLine()).after(ofName[i])
		case len(ofName) > 0:
			twice = wrong("the list has another pet with the name of one that was added: %s", p.written).after(ofName[0])
		case r.unclear > 0: // a request of the run may have added it, with a name that the target has changed
		default:
			r.stop(fmt.Errorf("GET %s shows the pet %d with the name %q, which was not there before and which the run "+
				"did not send: another client has added it, or the target has; judge a server that nobody else uses",
				x.request.path, p.id, short(p.name)))
		}
	}
	r.judge("pets.create.once", x, twice)
	r.judge("pets.create.refused", x, refused)
}
