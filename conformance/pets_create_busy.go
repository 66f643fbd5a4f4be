package conformance

import "example.com/animalstore/conformance/internal/probe"

var busyChecks = []Check{
	{
		ID: "pets.create.busy", Clause: "create-adds", Title: "pets are right while others are added and listed", Writes: true,
		Why:     "Clients read while others write.",
		Failure: "While 6 pets are added, and pets and lists are requested 64 times, 16 at a time, a new pet is refused, or a pet gets another status than 200, or is shown otherwise than it was added.",
		phase:   first, run: func(t *tester) {
			pets := t.samples()
			// So many of each kind show what goes wrong once in fifty requests.
			t.parallel(64, 16, func(t *tester, i int) {
				added := pets[i%len(pets)]
				if i%11 == 0 {
					added = t.added(t.post(t.newPet(statuses()[i%3])))
				}
				t.wantStored(added)
				if l := t.listing(added.Status); l.has(added.ID) { // pets.list.* judge one that lacks it
					l.wantSame(added)
				}
				if i%2 == 0 && t.s.target.MessagesURL != "" {
					t.do(messageRequest(t, `{"message":$N}`)) // messages.* judge the response
				}
				if i%4 == 0 { // auth.* judge the responses
					t.do(probe.Get("/pets").With(probe.Credential{}))
					t.do(probe.Get(added.path()).With(probe.Credential{}))
				}
			})
		},
	},
}
