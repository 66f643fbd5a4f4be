package conformance

// The credential (contract, section 5).

var keyChecks = []Check{
	{"auth.list", Required, "4.1, 5, 7", "GET /pets without a valid credential gets 401"},
	{"auth.create", Required, "4.2, 5, 7", "POST /pets without a valid credential gets 401"},
	{"auth.get", Required, "4.3, 5, 7", "GET /pets/{petId} without a valid credential gets 401"},
	{"messages.auth", Required, "4.4, 5, 7", "POST /messages without a valid credential gets 401"},
	{"auth.first", Required, "5", "without a credential a wrong parameter or an unknown id gets 401"},
	{"auth.create.first", Recommended, "4.2, 5", "without a credential a wrong body gets 401"},
	{"messages.auth.first", Recommended, "4.4, 5", "without a credential a wrong message gets 401"},
	{"auth.ascii", Recommended, "5", "a credential outside ASCII gets 401"},
	{"auth.word", Recommended, "5", "the key with a word after it gets 401"},
	{"auth.challenge", Recommended, "RFC 9110, 15.5.2", "a 401 has a challenge for a bearer token"},
	{"auth.scheme-case", Recommended, "RFC 9110, 11.1", "the scheme of the credential has no case"},
}

// badKeys uses every operation without the valid key.
func (r *run) badKeys() {
	id := r.anID()
	for _, op := range []struct {
		check string
		q     func() request
	}{
		{"auth.list", func() request { return get("/pets") }},
		{"auth.get", func() request { return get(petPath(id)) }},
		{"auth.create", func() request { return add(r.pet("available")) }},
		{"messages.auth", func() request { return submit(r.name()) }},
	} {
		check, q := op.check, op.q
		var steps []step
		for _, c := range badCredentials(r.target.Key) {
			steps = append(steps, r.refusing(check, q().with(c)))
		}
		for _, c := range notASCII {
			steps = append(steps, step{q().with(c), func(x *exchange) {
				r.mustUnauthorize("auth.ascii", x)
				if !x.refused() { // HTTP servers may refuse it by themselves
					r.mustUnauthorize(check, x)
				}
			}})
		}
		if check == "auth.list" || check == "messages.auth" { // of which nobody asks what they have added
			steps = append(steps, r.refusing("auth.word", q().with(wordAfterKey)), step{q().with(lowerScheme), func(x *exchange) {
				r.check("auth.scheme-case", x, x.succeeded(), `the valid key after "bearer" gets %s`, x.statusLine())
			}})
		}
		r.play(steps...)
	}
	// Without a valid key a client must not learn what is in the store, or what a request looks like.
	cutShort := func(op string) request {
		return post(op, `{"name":`).as("a body that is cut short", refusal).with(noKey)
	}
	r.play(
		r.refusing("auth.first", get("/pets?limit=0&status=lost").as("", undefined).with(noKey)),
		r.refusing("auth.first", get(petPath(r.unusedID())).as("", refusal).with(noKey)),
		r.refusing("auth.create.first", cutShort(opCreate)),
		r.refusing("messages.auth.first", cutShort(opSubmit)))
}

// refusing sends a request with a bad credential.
func (r *run) refusing(check string, q request) step {
	return step{q, func(x *exchange) { r.mustUnauthorize(check, x) }}
}

// sameRequests sends the same requests with the key and without it: a response to the one must not be that
// to the other.
func (r *run) sameRequests() {
	id, text, longest := r.anID(), r.name(), query{"available", 100}
	without := func(check string, q request) { r.play(r.refusing(check, q.with(noKey))) }
	for range 2 {
		without("auth.get", get(petPath(id)))
		r.fetch(id)
		without("auth.list", get(longest.path()))
		r.list(longest)
	}
	without("messages.auth", submit(text))
	r.submit(text)
	without("messages.auth", submit(text))
}

// mustUnauthorize says that x, whose credential is bad, must be a 401.
func (r *run) mustUnauthorize(id string, x *exchange) {
	r.checkStatus(id, x, x.request.credential.what, x.status == 401, "401")
}

// hasBadKey reports whether the request of x has no valid credential, even if that is read
// leniently.
func (x *exchange) hasBadKey() bool {
	c := x.request.credential
	return !c.is(validKey) && !c.is(lowerScheme) && !c.is(wordAfterKey)
}
