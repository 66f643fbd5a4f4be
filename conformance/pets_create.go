package conformance

import (
	"fmt"
	"net/http"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// POST /pets with a valid pet (contract, section 4.2).

var createChecks = []Check{
	{
		ID: "pets.create.status", Clause: "create", Title: "POST /pets with a valid pet responds 201", Writes: true,
		Why:     "201 tells a client that the pet was added.",
		Failure: "Another status for a body with a name, a category and a status of the contract.",
		run:     func(t *tester) { t.wantStatus(t.firstResponse().x, 201, "a valid pet is added") },
		every: &rule{what: "valid pets", applies: func(x *evidence) bool { return x.sent != nil && x.isValid() },
			want: func(x *evidence) { x.wantSuccess("a valid pet is added", "201") }},
	},
	{
		ID: "pets.create.media-type", Clause: "media-type", Title: "the response to a new pet is application/json", Writes: true,
		Why:     "Clients read a body by its media type.",
		Failure: "Another Content-Type, or none.",
		run:     func(t *tester) { t.first() },
		every:   &rule{what: "new pets", applies: func(x *evidence) bool { return x.isNewPet() && x.usual() }, want: (*evidence).wantJSON},
	},
	{
		ID: "pets.create.pet", Clause: "pet", Title: "the response to a new pet is the pet", Writes: true,
		Why:     "The client needs the id.",
		Failure: "The body is not a JSON object with id, name, categoryId and, if present, a status of the contract.",
		run: func(t *tester) {
			t.first()
			t.post(t.newPet(""))
		},
		every: &rule{what: "new pets", applies: (*evidence).isNewPet, want: (*evidence).wantPet},
	},
	{
		ID: "pets.create.echo", Clause: "create", Title: "the response to a new pet shows it as it was sent", Writes: true,
		Why:     "A client that uses the response would use other data than it sent.",
		Failure: "The name or categoryId in the response differs from what was sent.",
		run:     func(t *tester) { t.first() },
		every: &rule{what: "new pets", applies: (*evidence).isNewPet, want: func(x *evidence) {
			got := need("the response cannot be read", func() pet { return readPet(x.Exchange) })
			want := pet{ID: got.ID, newPet: *x.sent}
			want.Status = got.Status // pets.create.status.* judge the status
			want.wantSame(x.Exchange, got, notAsSent)
		}},
	},
	{
		ID: "pets.create.id.unique", Clause: "id-unique", Title: "every new pet gets a new id", Writes: true,
		Why:     "If two pets have the same id, one hides the other.",
		Failure: "Two new pets get the same id, even if they are alike, or one gets the id of a pet that was listed before. A target may refuse a pet that is like another.",
		run: func(t *tester) {
			seen := make(map[int64]bool)
			for _, old := range t.s.oldPets("") {
				seen[old.ID] = true
			}
			wantNew := func(added pet) {
				if seen[added.ID] {
					fail(t.exchanges[len(t.exchanges)-1], "another pet has the id %d", added.ID)
				}
				seen[added.ID] = true
			}
			wantNew(t.add("available"))
			wantNew(t.add("available"))
			last := t.add("available")
			seen[last.ID] = true
			var again pet
			if attempt(func() { again = t.create(last.newPet) }) == nil { // a target may refuse it
				wantNew(again)
			}
		},
	},
	{
		ID: "pets.create.id.run", Clause: "id-unique", Title: "no two pets of the run have the same id", Writes: true,
		Why:     "If two pets have the same id, one hides the other.",
		Failure: "Two of about a hundred new pets get the same id.",
		phase:   late, run: func(t *tester) {
			t.stock("", 101)
			if len(t.s.addedPets()) < 2 {
				inconclusive("the run added fewer than two pets")
			}
		},
		every: &rule{what: "new pets", applies: func(x *evidence) bool { return x.op == "POST /pets" && x.Succeeded() },
			want: func(x *evidence) {
				if x.twin != nil {
					fail(x.Exchange, "another pet of this run has the same id")
				}
			}},
	},
	{
		ID: "pets.create.once", Clause: "create-adds", Title: "a request adds at most one pet", Writes: true,
		Why:     "A proxy that repeats a request by itself adds a pet that nobody asked for.",
		Failure: "Lists show more pets of the run with a name than there were requests with this name that were not refused.",
		phase:   late, run: sendLists,
		every: &rule{what: "lists with a pet of the run", applies: (*evidence).listsAdded, want: (*evidence).wantAsked},
	},
	{
		ID: "pets.create.id.taken", Clause: "id-unique", Title: "a new pet does not get the id of another pet from its body", Writes: true,
		Why:     "A client could overwrite the pets of others.",
		Failure: "A body with the id of another pet gets that id, or changes that pet. The target may refuse the body or ignore the id.",
		run: func(t *tester) {
			owner := t.add("sold")
			n := newPet{t.name(), owner.Category, "pending"}
			x := t.do(probe.Post("/pets", strings.Replace(n.json(), "{", fmt.Sprintf(`{"id":%d,`, owner.ID), 1)))
			if got, err := parsePet(x); err == nil && x.Succeeded() && got.ID == owner.ID {
				fail(x, "another pet has the id %d", owner.ID)
			}
			now := t.get(owner.path())
			if got, err := parsePet(now); err == nil && now.Status == http.StatusOK { // pets.get.* judge other responses
				owner.wantSame(now, got, "the pet was changed when another was added")
			}
		},
	},
	{
		ID: "pets.create.status.absent", Clause: "status-optional", Title: "a pet without a status is accepted", Writes: true,
		Why:     "The status is optional.",
		Failure: "Another status than 201 for a body with a name and a categoryId.",
		run:     func(t *tester) { t.wantAdded(t.post(t.newPet(""))) },
	},
	{
		ID: "pets.create.forms", Clause: "create", Title: "every form of the same JSON is accepted", Writes: true,
		Why:     "Clients write JSON with other white space, order of members and escapes.",
		Failure: "A valid body that is indented, or has another order of members, or has escapes, is refused or changed.",
		run: func(t *tester) {
			for _, form := range []string{
				"\n{\r\n\t\"name\" : $N ,\n  \"categoryId\" : $C ,\n\t\"status\":\"sold\"\n}\n\n",
				`{"status":"sold","categoryId":$C,"name":$N}`,
				`{"n\u0061me":"$T \uD83E\uDD8A \ud83e\udd8a \/","categoryId":$C,"status":"s\u006Fld"}`,
			} {
				t.added(t.do(petRequest(t, form)))
			}
		},
	},
	{
		ID: "pets.create.members", Clause: "create", Title: "members that the contract does not name change no others", Writes: true,
		Why:     "Clients send what a newer or another server knows. Member names are case-sensitive.",
		Failure: "A pet is added with the name, categoryId or status of another object inside it, or of a member whose name is in another case. A target may refuse such a body.",
		phase:   filling, run: func(t *tester) {
			for _, body := range []string{
				`{"owner":{"name":"Bob","categoryId":1,"status":"sold"},"tags":[{"name":"x"}],"name":$N,"categoryId":$C,"status":"pending"}`,
				`{"name":$N,"categoryId":$C,"status":"pending","Name":"Bob","CATEGORYID":1,"Status":"sold"}`,
			} {
				t.wantKeptOrRefused(petRequest(t, body))
			}
		},
	},
}

const notAsSent = "the response does not show the pet as it was sent"

// wantAdded ends the check if x does not say that a valid pet was added. If every
// new pet gets the same wrong 2xx, only pets.create.status fails.
func (t *tester) wantAdded(x *probe.Exchange) {
	if !x.Succeeded() || x.Status != t.first().x.Status {
		t.wantStatus(x, http.StatusCreated, "a valid pet is added")
	}
}

// added returns the pet that x says was added, which must be as it was sent.
func (t *tester) added(x *probe.Exchange) pet {
	t.wantAdded(x)
	got := readPet(x)
	want := sentPet(x).stored(got)
	want.wantSame(x, got, notAsSent)
	return want
}
