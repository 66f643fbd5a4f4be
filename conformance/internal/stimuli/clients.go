package stimuli

import "example.com/animalstore/conformance/internal/probe"

// unusualClients adds pets and messages as unusual clients do, with words of programming
// languages, and with long names.
func (s *session) unusualClients() {
	requests := s.textRequests(words)
	both := func(intent probe.Intent, change func(*probe.Request)) {
		for _, r := range []probe.Request{probe.AddPet(s.pet("sold"), intent), probe.SubmitText(s.name(), intent)} {
			change(&r)
			requests = append(requests, r)
		}
	}
	both(probe.Intent{Unusual: "a charset in its Content-Type"}, func(r *probe.Request) {
		r.ContentType = "application/json; charset=utf-8"
	})
	both(rfc("the Content-Type Application/JSON", probe.With4xx, "http.media-type.case"), func(r *probe.Request) {
		r.ContentType = "Application/JSON"
	})
	// A target that does not understand these may take the body for the next request.
	both(rfc("a body in chunks, without its length", probe.WithAnything, "http.chunked"), func(r *probe.Request) {
		r.Chunked = true
		r.Header = map[string]string{"Connection": "close"}
	})
	both(rfc("an Expect field", probe.WithAnything, "http.expect"), func(r *probe.Request) {
		r.Header = map[string]string{"Expect": "100-continue", "Connection": "close"}
	})
	s.all(requests)
	s.each(len(clients), func(i int) { s.as(clients[i]) })
	s.each(9, func(int) { s.create(s.longPet(), mayRefuse("a long name")) }) // for a list of more than 64 KiB
	s.longestLists()
}

// rfc is the intent of a request that the target must accept by an RFC, and not by the
// contract: a refusal is a warning of the check.
func rfc(unusual string, refusal probe.Refusal, check string) probe.Intent {
	return probe.Intent{Unusual: unusual, MayRefuse: refusal, WarnsCheck: check}
}

// as uses every operation as a client that sends these header fields.
func (s *session) as(c clientFields) {
	send := func(r probe.Request) *probe.Exchange {
		r.Header = c.fields
		if r.Intent.Unusual == "" {
			r.Intent.Unusual = c.what
		} else {
			r.Intent.Unusual += " and " + c.what
		}
		return s.send(r)
	}
	x := send(probe.AddPet(s.pet("available"), probe.Intent{}))
	if id, ok := x.AddedID(); ok {
		send(probe.Get(probe.PetPath(id)))
		send(probe.Get(probe.PetPath(id)).With(probe.Credential{}))
	}
	send(probe.Get(probe.LongestList("pending").Path()))
	send(probe.Get(s.missingPath()))
	send(probe.Post(probe.CreatePet, s.fill(`{"name":$N}`), mustRefuse("no categoryId", "pets.create.400.required")))
	send(probe.SubmitText(s.name()+" 猫 🦊", mayRefuse("a text in another script")))
	send(probe.Post(probe.SubmitMessage, `{}`, mustRefuse("an empty object as its body", "messages.400.required")))
}
