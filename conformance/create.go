package conformance

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/wire"
)

// POST /pets (contract, sections 2.1, 2.2 and 4.2).

var createChecks = []Check{
	{"pets.create.status", Required, "1, 4.2", "POST /pets with a valid pet responds 201"},
	{"pets.create.status.absent", Required, "2.1", "a pet without a status is accepted"},
	{"pets.create.media-type", Required, "4", "the response to a new pet is application/json"},
	{"pets.create.pet", Required, "2.2", "the response to a new pet is the pet, with each field of its type"},
	{"pets.create.id.unique", Required, "2.2", "every new pet gets a new id"},
	{"pets.create.name", Required, "2.1, 2.2", "the response to a new pet shows its name as it was sent"},
	{"pets.create.category", Required, "2.1, 2.2", "the response to a new pet shows its categoryId as it was sent"},
	{"pets.create.status.kept", Required, "3.1", "the response to a new pet shows the status that was sent"},
	{"pets.create.status.before", Required, "3.1", "a pet without a status does not get that of the request before"},
	{"pets.create.once", Required, "4.2", "a request adds at most one pet"},
	{"pets.create.refused", Required, "4.2, 5", "a request that is refused adds nothing"},
	{"http.location", Recommended, "RFC 9110, 15.3.2", "the response to a new pet has its Location"},
	{"pets.create.400.body", Required, "4.2, 7", "a body that is missing or not a JSON object gets 400"},
	{"pets.create.400.required", Required, "4.2, 7", "a body without name or without categoryId gets 400"},
	{"pets.create.400.values", Required, "4.2, 7", "a body with a value that its field does not allow gets 400"},
	{"pets.create.400.status", Required, "2.4", "a body with an unknown status gets 400"},
	{"pets.create.400.status.null", Recommended, "2.1", "a body with null for the status gets 400"},
	{"pets.create.400.duplicate", Recommended, "RFC 8259, 4", "a body with a name twice gets 400"},
	{"pets.create.400.utf8", Recommended, "RFC 8259, 8.1", "a body that is not UTF-8 gets 400"},
	{surrogateCheck, Required, "4.2", "an unpaired surrogate as a name gets 201 or a 4xx"},
}

// surrogateCheck is the check whose request is not sent if it is not selected.
const surrogateCheck = "pets.create.surrogate"

// create adds n, and queues a GET of the pet.
func (r *run) create(n wire.NewPet) *exchange { return r.play(r.creating(add(n), n)) }

// creating adds n by a request that may be unusual, and queues a GET of the pet.
func (r *run) creating(q request, n wire.NewPet) step {
	return step{q, func(x *exchange) {
		r.judgeCreation(x, n)
		r.fetchAdded(x)
	}}
}

// fetchAdded queues a request for the pet that x has added.
func (r *run) fetchAdded(x *exchange) {
	if id, ok := x.addedID(); ok {
		r.queue(r.fetching(id))
	}
}

// addedID returns the ID of the pet that x added. It returns false if x added none, or if the
// response does not show its ID.
func (x *exchange) addedID() (int64, bool) {
	p := x.Pet()
	return p.ID, x.Succeeded() && p.NoID == nil
}

// judgeCreation judges x, the response to a valid request for n.
func (r *run) judgeCreation(x *exchange, n wire.NewPet) {
	id := "pets.create.status"
	if n.Status == "" && x.request.what == "" {
		id = "pets.create.status.absent"
	}
	r.accept(id, nil, x, 201, "a valid pet is added")
	if !x.Succeeded() {
		return
	}
	p := x.Pet()
	r.checkType("pets.create.media-type", x)
	r.check("pets.create.pet", x, p.Err == nil, "the body is not a Pet: %v", p.Err)
	if p.NoID != nil {
		return
	}
	want, same := r.keep(x, n)
	r.judge("pets.create.id.unique", x, unless(same == nil, "another pet has the id %d, too%s", p.ID, x.during(same)).after(same))
	r.judge("pets.integers", x, noFraction(p))
	changed, diff := want.Diff(p)
	for member, id := range map[string]string{
		"name": "pets.create.name", "categoryId": "pets.create.category", "status": "pets.create.status.kept",
	} {
		if changed == "" || changed == member { // of the others nothing is known
			r.check(id, x, changed == "", "the response does not show the pet as it was sent: %s", diff)
		}
	}
	if x.Status == 201 {
		location := r.wrongLocation(x, p.ID)
		r.check("http.location", x, location == "", "%s", location)
	}
}

// wrongLocation says what is wrong with the Location of x, which added the pet with that ID.
func (r *run) wrongLocation(x *exchange, id int64) string {
	location := x.Header.Get("Location")
	if location == "" {
		return "the 201 has no Location"
	}
	base, _ := url.Parse(x.request.URL)
	u, err := base.Parse(location)
	if err != nil {
		return fmt.Sprintf("the Location %q is not a URL", location)
	}
	u.Fragment = "" // RFC 9110, section 10.2.2
	// The URL of another server may be right.
	if path, ok := strings.CutPrefix(u.String(), r.target.URL+"/"); ok && "/"+path != petPath(id) {
		return fmt.Sprintf("the Location %q is not that of the pet %d", location, id)
	}
	return ""
}

// firstPets adds the first pets, one after the other.
func (r *run) firstPets() {
	r.findCategory()
	r.list(query{})
	r.submit(r.name())
	// A pet without a status must not get the one of the request before. The statuses are not in turn,
	// as a default may be.
	copied, statuses := 0, []string{"available", "pending", "sold", "sold", "pending", "available"}
	for _, status := range statuses {
		r.create(r.pet(status))
		x := r.create(r.pet(""))
		if x.Pet().Status == status {
			copied++
		}
		r.check("pets.create.status.before", x, copied < len(statuses),
			"pets without a status get that of the request before, with each of the three statuses")
	}
	// Nor must a body without a name get the name of the request before.
	r.sendWrong(opCreate, []wrongBodies{{"pets.create.400.required", []row{{"no name", `{"categoryId":$C}`}}}})
	// An ID that gets 404 may be assigned to a pet later.
	if id, ok := r.create(r.pet("sold")).addedID(); ok {
		r.play(r.fetchingNone(id+1), r.fetchingNone(id+2), r.fetchingNone(id+3))
		r.create(r.pet("sold"))
	}
	r.look()
}

// findCategory adds the first pet, and so finds a category that the target accepts: the
// contract does not say which categories there are. It ends the run if the target refuses
// every one.
func (r *run) findCategory() {
	candidates, may := []int64{r.category}, success
	if r.opts.Category == nil {
		may = or4xx
		for _, old := range r.old.Pets {
			if !slices.Contains(candidates, old.Category) && len(candidates) < 6 {
				candidates = append(candidates, old.Category)
			}
		}
		candidates = append(candidates, 1)
	}
	var x *exchange
	for _, r.category = range candidates { // the last one tried stays
		n := r.pet("available")
		x = r.send(add(n).as("", may))
		r.judgeCreation(x, n)
		if x.Succeeded() || x.tries == 0 {
			r.findRemoval()
			r.fetchAdded(x)
			return
		}
	}
	if may == or4xx && x.refused() {
		r.stop(fmt.Errorf("the target refuses every pet, the last with %s %s; name a category that it accepts (-category)",
			x.StatusLine(), wire.Cut(string(x.Body), 200)))
	}
}

// unusualValues adds pets and messages with unusual names and values.
func (r *run) unusualValues() {
	r.sendTexts(texts)
	for _, category := range append(categories, anyCategory(), -anyCategory()) {
		n := wire.NewPet{Name: r.name(), Category: category, Status: "available"}
		r.queue(r.creating(add(n).as(fmt.Sprintf("the categoryId %d", category), or4xx), n))
	}
	for _, f := range petForms {
		name := r.name()
		body := strings.ReplaceAll(r.fill(name, f.body), "$I", fmt.Sprint(r.anID()))
		means := wire.Exchange{Body: []byte(r.fill(name, f.means))}
		r.queue(r.creating(post(opCreate, body).as(f.what, f.may).naming(name), means.Pet().NewPet))
	}
	for _, f := range messageForms {
		name := r.name()
		r.queue(r.submitting(post(opSubmit, r.fill(name, f.body)).as(f.what, f.may), r.fill(name, f.means)))
	}
	r.play(r.creatingLong())
	// A name that another pet has, in lower or upper case.
	n := r.pet("sold")
	first := r.create(n)
	again := func(n wire.NewPet) step { return r.creating(add(n).as("the name of another pet", or400), n) }
	upper := n
	upper.Name = strings.ToUpper(n.Name)
	r.play(again(n), again(upper))
	r.fetchAdded(first) // another may have replaced it
	n = r.pet("")
	r.play(again(n), again(n))
}

// sendTexts adds a pet and submits a message with each text of a table.
func (r *run) sendTexts(table []string) {
	for _, text := range table {
		text = fillText(text, r.mark)
		what := fmt.Sprintf("the text %.40q", text)
		n := wire.NewPet{Name: text, Category: r.category, Status: "pending"}
		r.queue(r.creating(add(n).as(what, or4xx), n), r.submitting(submit(text).as(what, or4xx), text))
	}
	r.play()
}

// creatingLong adds a pet with a long name.
func (r *run) creatingLong() step {
	n := r.pet("sold")
	n.Name += strings.Repeat(" long", 1500)
	return r.creating(add(n).as("a long name", or4xx), n)
}

// wrongBodies sends bodies that are no pet and no message.
func (r *run) wrongBodies() {
	r.sendWrong(opCreate, wrongPets)
	r.sendWrong(opSubmit, wrongMessages)
	r.wrongTypes()
}

// sendWrong sends the bodies of a table, which must get 400.
func (r *run) sendWrong(op string, table []wrongBodies) {
	members := `"name":$N,"categoryId":$C`
	if op == opSubmit {
		members = `"message":$N`
	}
	for _, t := range table {
		for _, row := range t.rows {
			name := r.name()
			q := post(op, r.fill(name, strings.ReplaceAll(row.body, "$M", members))).as(r.fill(name, row.what), refusal)
			r.queue(r.want400(t.check, q.naming(name)))
		}
	}
	r.play()
}

// want400 sends a request that is wrong by a check, and must get 400.
func (r *run) want400(check string, q request) step {
	return step{q, func(x *exchange) {
		if x.Status < 500 { // of 5xx there is a check
			r.checkStatus(check, x, x.request.what, x.Status == 400 || x.tooLarge(), "400")
		}
	}}
}

// loneSurrogate adds a pet whose name is an escape without a character, as the last one:
// some targets store it, and then fail for every list.
func (r *run) loneSurrogate() {
	if !r.selected[surrogateCheck] {
		return
	}
	body := r.fill("", `{"name":"\ud800","categoryId":$C,"status":"available"}`)
	x := r.send(post(opCreate, body).as("an unpaired surrogate as the name", or4xx))
	r.checkStatus(surrogateCheck, x, x.request.what, x.Status == 201 || x.refused(), "201 or a 4xx")
	r.list(query{})
	r.lists(100)
}
