package conformance

import (
	"fmt"

	"example.com/animalstore/conformance/internal/probe"
)

// nameChecks are about the name of a pet (contract, section 2.1).
func nameChecks() []Check {
	return checksOf(textKinds(), func(k textKind) Check {
		return Check{
			ID: "pets.create.name." + k.id, Clause: "name", Title: "a name " + k.what + " is kept exactly", Writes: true,
			Why:     "A client must get back what it stored.",
			Failure: "The response, GET /pets/{petId} or the list shows another name" + k.orRefused("the pet"),
			phase:   filling, run: func(t *tester) {
				t.sendTexts(k, func(text string) *probe.Exchange {
					n := t.newPet("pending")
					n.Name = text
					return t.post(n)
				}, t.wantKept)
			},
		}
	})
}

// statusChecks are about the status of a new pet (contract, section 3.1).
func statusChecks() []Check {
	return append(checksOf(statuses(), func(status string) Check {
		return Check{
			ID: "pets.create.status." + status, Clause: "status-set", Title: "a pet with status " + status + " is added with it", Writes: true,
			Why:     "The status is set on creation and nowhere else.",
			Failure: "The pet is refused, or the response shows another status or none.",
			run: func(t *tester) {
				x := t.post(t.newPet(status))
				t.wantAdded(x)
				o := need("the response cannot be read", func() probe.Object { return readObject(x) })
				if got, err := o.Str("status"); err != nil || got != status {
					fail(x, "the response does not show the status %q that was sent", status)
				}
			},
		}
	}),
		Check{
			ID: "pets.create.status.before", Clause: "status-set", Title: "a pet without a status does not get that of the previous request", Writes: true,
			Why:     "A server that reads each body into the same variable mixes up the data of its clients.",
			Failure: "A pet that is sent without a status gets the status of the request before it, which added a pet or was refused because it has no name. The check fails only if this happens with each of the three statuses.",
			phase:   alone, run: func(t *tester) {
				for _, status := range statuses() {
					if !t.gets(status) {
						return
					}
				}
				fail(t.exchanges[len(t.exchanges)-1], "a pet without a status gets that of the previous request, with each status")
			},
		},
		Check{
			ID: "pets.create.status.default", Clause: "status-default", Title: "all pets that are added without a status get the same one, or none", Writes: true,
			Why:     "A client must be able to rely on the default.",
			Failure: "Two pets of the run with plain names and the same category were sent without a status and have different ones.",
			run: func(t *tester) {
				t.samples()
				t.gets("pending")
			},
			every: &rule{what: "pets without a status", applies: (*evidence).hasDefault, want: func(x *evidence) {
				earlier, _ := find(x.run.all, func(y *evidence) bool { return y.hasDefault() && y.sent.Category == x.sent.Category })
				if was, is := readAnyPet(earlier.Exchange).Status, readAnyPet(x.Exchange).Status; was != is {
					fail(x.Exchange, "a pet that was sent without a status has the status %s, and an earlier one %s", orAbsent(is), orAbsent(was))
				}
			}},
		})
}

// gets reports whether a pet without a status gets the status of the previous request,
// which is refused, or that of the previous pet.
func (t *tester) gets(status string) bool {
	t.do(petRequest(t, `{"categoryId":$C,"status":"`+status+`"}`))
	if t.add("").Status == status {
		return true
	}
	t.add(status)
	return t.add("").Status == status
}

// hasDefault reports whether x added a plain pet without a status.
func (x *evidence) hasDefault() bool {
	if !x.isNewPet() || x.sent.Status != "" || !x.mustSucceed() {
		return false
	}
	_, err := guessPet(x.Exchange)
	return err == nil
}

// categoryChecks are about the categoryId of a pet (contract, section 2.1).
func categoryChecks() []Check {
	const unknown = "the contract does not say whether a category must exist"
	var checks []Check
	for _, v := range []struct {
		id, what string
		value    int64
	}{
		{"large", "beyond 2^53", 1<<53 + 1},
		{"max", "9223372036854775807", 1<<63 - 1},
		{"min", "-9223372036854775808", -1 << 63},
		{"negative", "that is negative and odd beyond 2^53", -(1<<53 + 1)},
		{"zero", "0", 0},
	} {
		negative := ""
		if v.value <= 0 {
			negative = ", negative ones too"
		}
		checks = append(checks, Check{
			ID: "pets.create.category." + v.id, Clause: "category", Title: fmt.Sprintf("a categoryId %s is kept exactly", v.what), Writes: true,
			Why: "An int64 that is converted to floating point changes.",
			Failure: "The response, GET /pets/{petId} or the list shows another number, or the pet is refused though the target accepts arbitrary categories" +
				negative + ". Inconclusive if it does not accept those: " + unknown + ".",
			run: func(t *tester) {
				n := t.newPet("pending")
				n.Category = v.value
				x := t.post(n)
				if x.Refused() && (!t.first().anyCategory || v.value <= 0 && !t.acceptsNegative()) {
					inconclusive("the target refuses the pet with %s: %s", x.StatusLine(), unknown)
				}
				t.wantKept(x)
			},
		})
	}
	return append(checks, Check{
		ID: "pets.create.category.notation", Clause: "category", Title: "a categoryId that is written as 1e2 or 5.0 is refused or kept", Writes: true,
		Why:     "A server that reads only the digits at the start stores another number.",
		Failure: "The pet is added with another category, or gets a 5xx. Another status than 201 is not judged: the contract does not say how integers are written.",
		phase:   filling, run: func(t *tester) {
			for _, category := range []string{"$C.0", "1e2", "1E+2", "100e-2", "-0", "0.0"} {
				t.wantKeptOrRefused(petRequest(t, `{"name":$N,"categoryId":`+category+`,"status":"pending"}`))
			}
		},
	})
}

// wantKeptOrRefused sends a request for a pet that a target may refuse.
func (t *tester) wantKeptOrRefused(r probe.Request) {
	if x := t.do(r); !x.Refused() {
		t.wantKept(x)
	}
}

// acceptsNegative reports whether the target accepts an arbitrary negative
// category, so that it does not require that categories are positive.
func (t *tester) acceptsNegative() bool {
	return share(t, "negative", func(t *tester) bool { return t.acceptsCategory(-t.arbitraryCategory()) })
}

// wantKept ends the check if x, the response to a new pet, does not say that it was
// added, or if x, GET /pets/{petId} or a list shows another.
func (t *tester) wantKept(x *probe.Exchange) {
	added := t.added(x)
	t.wantStored(added)
	var l listing
	attempt(func() { l = t.listing(added.Status) }) // pets.list.* judge it
	if l.has(added.ID) {
		l.wantSame(added)
	}
}

// wantStored ends the check if GET /pets/{petId} does not show a pet as it was
// added.
func (t *tester) wantStored(added pet) {
	if t.getRemoved() {
		return
	}
	t.wantPet(t.get(added.path()), added)
}

// wantPet ends the check if x, a response of GET /pets/{petId}, does not show a pet
// as it was added.
func (t *tester) wantPet(x *probe.Exchange, added pet) {
	t.wantStatus(x, 200, "the pet %d was added", added.ID)
	added.wantSame(x, readPet(x), "GET /pets/{petId} does not show the pet as it was added")
}
