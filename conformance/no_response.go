package conformance

import (
	"net/http"

	"example.com/animalstore/conformance/internal/probe"
)

// Requests that get no response in time are sent again, to find out who is at fault.

// maxHangs is how many requests of a run are sent again because they got no response in
// time: each takes the time limit twice more.
const maxHangs = 6

// maxSilence ends a run: the target has responded to no request for that many time
// limits.
const maxSilence = 3

// sendLate sends the request of x, which got no response in time, up to twice more, each
// time after an ordinary request that got one. It returns the exchange with the response, if there is
// one. hangs says that the target is at fault: this request got no response three times,
// and the ordinary request after each attempt got one soon.
func (t *tester) sendLate(x *probe.Exchange) (last *probe.Exchange, hangs bool) {
	t.s.mu.Lock()
	t.s.created.hangs++
	over := t.s.created.hangs > maxHangs
	t.s.mu.Unlock()
	last = x
	for range 2 {
		if over || !t.respondsSoon(x.Request) {
			return x, false
		}
		if last = t.s.client.SendAgain(t.ctx, last); last.Status != 0 {
			return last, false
		}
	}
	return last, t.respondsSoon(x.Request)
}

// respondsSoon reports whether an ordinary request for the operation of r gets a
// response in much less than the time limit. If not, the target or the network may be
// slow. The request is sent on a connection of its own, since each open connection may
// keep a thread of the target.
func (t *tester) respondsSoon(r probe.Request) bool {
	ordinary := probe.Get("/pets?limit=1")
	switch {
	case r.Messages:
		ordinary = probe.PostMessage(messageBody(t.name()))
	case r.Method == http.MethodPost:
		ordinary = probe.Post("/pets", newPet{t.name(), t.arbitraryCategory(), "available"}.json())
	}
	ordinary.Fresh = true
	x := t.s.client.Send(t.ctx, ordinary)
	t.s.recordCreated(x)
	return x.Status != 0 && !x.Unavailable() && x.Received.Sub(x.Sent) < t.s.opts.Timeout/4
}
