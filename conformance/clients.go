package conformance

// concurrentRequests sends requests that may disturb each other.
func (r *run) concurrentRequests() {
	for i, s := range r.pets() {
		if i == 24 {
			break
		}
		n, text := r.pet(anyStatus[i%4]), r.name()
		r.queue(r.creating(add(n), n), r.fetching(s.want.ID), r.listing(query{anyStatus[i%4], 100}),
			r.want401("auth.get", get(petPath(s.want.ID)).with(noKey)), r.submitting(submit(text), text))
	}
	text := r.name()
	for range 8 {
		r.queue(r.submitting(submit(text).as("the text of another message", or4xx), text))
	}
	r.play()
}

// unusualClients adds pets and messages as unusual clients do, with words of programming
// languages, and with long names.
func (r *run) unusualClients() {
	r.sendTexts(words)
	r.both("a charset in its Content-Type", success, "", fields{"Content-Type": "application/json; charset=utf-8"})
	// An RFC asks a target to accept these, and the contract does not.
	r.both("the Content-Type Application/JSON", or4xx, "http.media-type.case", fields{"Content-Type": "Application/JSON"})
	// A target that does not understand these may take the body for the next request.
	r.both("a body in chunks, without its length", anything, "http.chunked", fields{"Transfer-Encoding": "chunked", "Connection": "close"})
	r.both("an Expect field", anything, "http.expect", fields{"Expect": "100-continue", "Connection": "close"})
	for _, c := range clients {
		r.useAs(c)
	}
	for range 9 { // for a list of more than 64 KiB
		r.queue(r.creatingLong())
	}
	r.playAll()
	r.lists(100)
}

// both adds a pet and a message with these fields. A refusal violates the check ("": none).
func (r *run) both(what string, may allowed, check string, f fields) {
	n, text := r.pet("sold"), r.name()
	for _, s := range []step{r.creating(add(n).as(what, may).set(f), n), r.submitting(submit(text).as(what, may).set(f), text)} {
		r.queue(step{s.q, func(x *exchange) {
			s.judge(x)
			if check != "" && x.tries == 1 && !x.unavailable() && r.ctx.Err() == nil {
				ok := x.Succeeded() || check == "http.chunked" && x.Status == 411
				r.record(check, x, unless(ok, "the request is valid and has %s: got %s, want 2xx", what, x.StatusLine()))
			}
		}})
	}
}

// useAs uses every operation as a client that sends these header fields.
func (r *run) useAs(c clientFields) {
	by := func(s step) step {
		s.q = s.q.as(c.what, s.q.allow).set(c.fields)
		return s
	}
	n, text, name := r.pet("available"), r.name()+" 猫 🦊", r.name()
	added := func(x *exchange) {
		r.judgeCreation(x, n)
		if id, ok := x.addedID(); ok {
			r.queue(by(r.fetching(id)), by(r.want401("auth.get", get(petPath(id)).with(noKey))))
		}
	}
	r.queue(
		by(step{add(n), added}),
		by(r.listing(query{"pending", 100})),
		by(r.fetchingNone(r.unusedID())),
		by(r.want400("pets.create.400.required", post(opCreate, r.fill(name, `{"name":$N}`)).as("", refusal).naming(name))),
		by(r.submitting(submit(text).as("", or4xx), text)),
		by(r.want400("messages.400.required", post(opSubmit, `{}`).as("", refusal))))
}

// clientFields are the header fields that some clients send instead of the usual ones.
type clientFields struct {
	what string
	fields
}

var clients = []clientFields{
	{"no Accept, Accept-Encoding and User-Agent", fields{"Accept": "", "Accept-Encoding": "", "User-Agent": ""}},
	{"the fields of a browser", fields{
		"Accept":     "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)",
	}},
	{"Accept: */*, and accepts gzip", fields{"Accept": "*/*", "Accept-Encoding": "gzip"}},
	{"Connection: close", fields{"Connection": "close"}},
}
