package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/wire"
)

// store is what a run knows of the pets of the target.
type store struct {
	start map[string]wire.List // the list with limit=100 of each status ("": of any) before the run
	old   wire.List            // the pets that they show
	posts []*exchange          // every request for a pet
	added map[int64]*stored    // what a response to one of them shows, by ID
	order []*stored            // those for valid requests

	unclear int                  // how many requests may have added a pet whose ID is not known
	listed  map[int64]*exchange  // the first list that shows a pet
	filled  map[string]*exchange // the first list with a status ("": with any) that is not empty
	longest int                  // how many pets the longest list has
}

func newStore() store {
	return store{
		start: make(map[string]wire.List), added: make(map[int64]*stored),
		listed: make(map[int64]*exchange), filled: make(map[string]*exchange),
	}
}

// stored is a pet that a response to POST /pets shows.
type stored struct {
	by    *exchange
	shown wire.Pet // in the response

	want *wire.Pet // as it must be in the store since then; nil: the request was wrong, or another pet has the ID
	kept bool      // the response shows it so
}

// differs says how p, which a later response shows, differs from s. If the response to the creation
// did not show the pet as it was sent, a later one may show it in either way.
func (s *stored) differs(p wire.Pet) string {
	if s == nil || s.want == nil || s.shown.Written == p.Written {
		return ""
	}
	_, text := s.want.Diff(p)
	return text
}

// explains reports whether what is wrong with p, which a later response shows, is a fault of the
// creation: it has accepted a wrong body, or shows the pet in the same way.
func (s *stored) explains(p wire.Pet) bool {
	return s != nil && (s.want == nil || s.shown.Written == p.Written)
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
	p := x.Pet()
	switch {
	case x.refused():
		return
	case !x.Succeeded() || p.NoID != nil || s.added[p.ID] != nil:
		s.unclear++
	default:
		s.added[p.ID] = &stored{by: x, shown: p}
	}
}

// keep records that x has added n, and returns the pet as it must be in the store, and another
// exchange that shows a pet with its ID, if any.
func (r *run) keep(x *exchange, n wire.NewPet) (want wire.Pet, same *exchange) {
	p := x.Pet()
	if n.Status == "" {
		n.Status = p.Status // the contract leaves a default open
	}
	want = wire.Pet{ID: p.ID, NewPet: n}
	s, listed := r.added[p.ID], r.listed[p.ID]
	switch {
	case s.by != x:
		s.want = nil // it is not known which of the two has the ID
		return want, s.by
	case listed != nil && x.follows(listed):
		return want, listed
	}
	_, diff := want.Diff(p)
	s.want, s.kept = &want, diff == "" && p.Err == nil
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
		return pets[0].want.ID
	}
	if len(r.old.Pets) > 0 {
		return r.old.Pets[0].ID
	}
	return 1
}

func (r *run) recordList(x *exchange, l wire.List, q *query) {
	r.longest = max(r.longest, len(l.Pets))
	for _, p := range l.Pets {
		if r.listed[p.ID] == nil && p.NoID == nil {
			r.listed[p.ID] = x
		}
	}
	if q != nil && r.filled[q.status] == nil && len(l.Pets) > 0 {
		r.filled[q.status] = x
	}
}

// has returns the pets with a status ("": with any) that a list at that time must have, if it is long
// enough, and how many it may have at most. From 100 on, it may be more.
func (r *run) has(status string, at time.Time) (must []wire.Pet, may int) {
	start, known := r.start[status]
	must, may = slices.Clone(start.Pets), len(start.Pets)+r.unclear
	if !known || start.More {
		may = 100
	}
	for _, s := range r.added {
		clear := s.want != nil && (s.kept || status == "")
		if clear && !s.want.Has(status) {
			continue
		}
		may++
		if clear && at.Sub(s.by.Received) > listPatience {
			must = append(must, *s.want)
		}
	}
	return must, may
}

// look judges whether the longest lists have every pet, and no other one. If a pet is missing, it
// waits and looks again, since lists may lag behind.
func (r *run) look() {
	lists := r.lists(100)
	lacks := func(status string) bool {
		l := lists[status].List()
		missing := func(s *stored) bool { return s.want.Has(status) && !l.Has(s.want.ID) }
		return len(l.Pets) < 100 && !l.More && slices.ContainsFunc(r.pets(), missing)
	}
	if slices.ContainsFunc(anyStatus, lacks) {
		r.wait()
		lists = r.lists(100)
	}
	for _, status := range anyStatus {
		x := lists[status]
		l := x.List()
		r.judgeStrays(x, l)
		must, may := r.has(status, x.Sent)
		if x.Status != 200 || l.Err != nil || l.More || may >= 100 || len(must) == 0 {
			continue
		}
		n, missing := len(l.Pets), finding{}
		if i := slices.IndexFunc(must, func(p wire.Pet) bool { return !l.Has(p.ID) }); i >= 0 {
			missing = wrong("the list of %s lacks the pet with the id %d, though the store has had it for two seconds", plural(n, "pet"), must[i].ID)
		}
		// The target may end every list at a length of its own. Only longer lists show that it does not.
		r.atEnd = append(r.atEnd, func() {
			if n == 0 || n < r.longest {
				r.judge("pets.list.created", x, missing)
			}
		})
	}
}

// lists requests a list of each status ("": of any).
func (r *run) lists(limit int) map[string]*exchange {
	lists := make(map[string]*exchange)
	for _, status := range anyStatus {
		s := r.listing(query{status, limit})
		r.queue(step{s.q, func(x *exchange) {
			lists[status] = x
			s.judge(x)
		}})
	}
	r.play()
	return lists
}

// judgeStrays judges whether the list l has a pet that no response shows, although each request for a
// pet with its name was refused, or has added another one.
func (r *run) judgeStrays(x *exchange, l wire.List) {
	if len(l.Pets) == 0 {
		return
	}
	var twice, refused finding
	for _, p := range l.Pets {
		ours := strings.Contains(p.Name, r.mark)
		if r.added[p.ID] != nil || p.NoID != nil || r.old.Has(p.ID) || len(r.old.Pets) > 0 && !ours {
			continue
		}
		ofName := slices.DeleteFunc(slices.Clone(r.posts), func(y *exchange) bool {
			q := y.request // a target may have changed what is not the mark and three letters
			return !(q.name == p.Name && q.valid() || strings.HasPrefix(q.name, r.mark) && strings.Contains(p.Name, q.name))
		})
		mayHaveAdded := func(y *exchange) bool {
			id, ok := y.addedID()
			return !y.refused() && (!ok || r.added[id].by != y)
		}
		i := slices.IndexFunc(ofName, (*exchange).refused)
		switch {
		case slices.ContainsFunc(ofName, mayHaveAdded):
		case i >= 0:
			refused = wrong("the pet %q is in the store, though its request got %s", p.Name, ofName[i].StatusLine()).after(ofName[i])
		case len(ofName) > 0:
			twice = wrong("the list has another pet with the name of one that was added: %s", p.Written).after(ofName[0])
		case r.unclear > 0: // a request of the run may have added it, with a name that the target has changed
		default:
			r.stop(fmt.Errorf("GET %s shows the pet %d with the name %q, which was not there before and which the run "+
				"did not send: another client has added it, or the target has; judge a server that nobody else uses",
				x.request.path, p.ID, wire.Cut(p.Name, 80)))
		}
	}
	r.judge("pets.create.once", x, twice)
	r.judge("pets.create.refused", x, refused)
}
