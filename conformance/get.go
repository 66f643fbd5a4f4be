package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/animalstore/conformance/internal/wire"
)

// GET /pets/{petId} (contract, section 4.3), and what it says about its removal. The
// contract has a day without a time zone (sections 4.3 and 9). The day begins in the
// first zone to reach 5 December 2030 and ends in the last one.
var (
	removalBegins = time.Date(2030, time.December, 4, 10, 0, 0, 0, time.UTC)
	removalEnds   = time.Date(2030, time.December, 6, 12, 0, 0, 0, time.UTC)
)

var getChecks = []Check{
	{"pets.get.status", Required, "1, 4.3", "GET /pets/{petId} responds 200 for a pet in the store, until 5 December 2030"},
	{"pets.get.missing", Required, "4.3, 7", "the id of no pet gets 404"},
	{"pets.get.almost", Required, "4.3, 7", "what is not an int64 gets no pet"},
	{"pets.get.spelling", Recommended, "4.3", "only the decimal digits of an id get the pet"},
	{"pets.get.media-type", Required, "4", "a pet is application/json"},
	{"pets.get.pet", Required, "2.2", "a pet has its fields, each of its type"},
	{"pets.get.id", Required, "2.2", "the pet in a response is the one that was requested"},
	{"pets.get.created", Required, "4.2", "a pet is in the store as it was added, and other requests do not disturb it"},
	{"pets.integers", Recommended, "2.1, 2.2", "the integers of a pet have no fraction and no exponent"},
	{"deprecation.sunset.date", Required, "4.3, 9", "a Sunset is 5 December 2030"},
	{"deprecation.sunset.present", Recommended, "RFC 8594, 3", "GET /pets/{petId} announces its removal in Sunset"},
	{"deprecation.deprecation.present", Recommended, "RFC 9745, 2 and 4", "GET /pets/{petId} says in Deprecation since when it is deprecated"},
}

// fetching gets a pet that is in the store.
func (r *run) fetching(id int64) step {
	return step{get(petPath(id)), func(x *exchange) { r.judgePet(x, id) }}
}

// judgePet judges x, the response to a request for a pet that is in the store.
func (r *run) judgePet(x *exchange, id int64) {
	s, by := r.added[id], r.added[id].creation()
	if !r.shown(id) {
		return
	}
	r.accept("pets.get.status", by, x, 200, "the pet is in the store")
	if x.Status != 200 {
		return
	}
	p := x.Pet()
	r.checkType("pets.get.media-type", x)
	r.judge("pets.get.pet", x, unless(p.Err == nil || s.explains(p), "the body is not a Pet: %v", p.Err).after(by))
	r.judge("pets.integers", x, noFraction(p).after(by))
	if p.NoID == nil {
		r.judge("pets.get.id", x, unless(p.ID == id, "the response has the id %d, want %d", p.ID, id).after(by))
	}
	if p.Err == nil && p.ID == id && s != nil && s.want != nil && x.follows(by) {
		diff := s.differs(p)
		r.judge("pets.get.created", x, unless(diff == "", "GET /pets/{petId} does not show the pet as it was added: %s", diff).after(by))
	}
	r.judgeDeprecation(x)
}

// noFraction says that no integer of p is written with a fraction or an exponent.
func noFraction(p wire.Pet) finding {
	return unless(p.Fraction == "", "an integer is written as %s", p.Fraction)
}

// judgeDeprecation judges how x announces that the operation ends.
func (r *run) judgeDeprecation(x *exchange) {
	sunset := x.Header.Get("Sunset")
	at, err := http.ParseTime(sunset)
	r.checkField("deprecation.sunset.present", x, "Sunset", err == nil, "an HTTP date")
	if sunset != "" {
		r.check("deprecation.sunset.date", x, err != nil || !at.Before(removalBegins) && !at.After(removalEnds),
			"the Sunset is %q, and the contract says 5 December 2030", sunset)
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(x.Header.Get("Deprecation")), "@")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	inTime := !time.Unix(seconds, 0).After(removalEnds) // RFC 9745, section 4
	r.checkField("deprecation.deprecation.present", x, "Deprecation", ok && err == nil && inTime, "a date before the removal, such as @1735689600")
}

// fetchingNone requests a pet with an ID that no pet has.
func (r *run) fetchingNone(id int64) step {
	return step{get(petPath(id)).as("", refusal), func(x *exchange) { r.judgeNone(x, id) }}
}

// judgeNone judges x, the response to a request for a pet with an ID that no pet has. It may be that of a
// pet that no list shows, unless the ID is as large as the one that the run made up.
func (r *run) judgeNone(x *exchange, id int64) {
	p := x.Pet()
	hidden := x.Succeeded() && p.ID == id && id < 1<<62
	if !r.shown(id) && x.Status < 500 { // of 5xx there is a check
		r.check("pets.get.missing", x, x.Status == 404 || hidden, "no pet has the id %d: the response is %s, want 404", id, x.StatusLine())
	}
}

// unusedID returns an ID that no pet has. No store has enough pets for an ID of 62 bits that depends
// on the run to be in use.
func (r *run) unusedID() int64 {
	id := int64(1)
	for _, c := range []byte(r.mark) {
		id = id<<6 ^ int64(c)
	}
	return 1<<62 | id&(1<<62-1)
}

// findRemoval finds out whether GET /pets/{petId} was removed as scheduled. Then it is not sent.
// While the store may be empty, a 404 does not show it: the run asks again for the first pet that it adds.
func (r *run) findRemoval() {
	if !time.Now().Before(removalBegins) {
		r.removed = false // otherwise the request is not sent
		r.removed = r.send(get(petPath(r.anID())).as("", undefined)).refused()
	}
}

// fetchOldest queues requests for the first pets that the run has added.
func (r *run) fetchOldest() {
	pets := r.pets()
	for _, s := range pets[:min(12, len(pets))] {
		r.queue(r.fetching(s.want.ID))
	}
}

// timePasses looks at what may change with time.
func (r *run) timePasses() {
	if !r.opts.ReadOnly {
		r.wait()
	}
	r.look()
	r.fetchOldest()
	r.submit(r.name())
}

// wrongIDs requests pets with IDs that no pet has, and with what is no ID.
func (r *run) wrongIDs() {
	r.send(get("/nothing-here").as("", anything))
	id := r.anID()
	for _, missing := range append(missingIDs, -id, id+1_000_003, id+1<<32, r.unusedID()) {
		r.queue(r.fetchingNone(missing))
	}
	for _, notID := range append(notIDs, plus(id, 1), plus(id, -1)) {
		notID = strings.ReplaceAll(notID, "$I", fmt.Sprint(id))
		r.queue(step{get("/pets/"+notID).as("", undefined), func(x *exchange) {
			r.check("pets.get.almost", x, !x.Succeeded(), "%s is not the id of a pet, and the response is %s", notID, x.StatusLine())
		}})
	}
	for _, spelling := range spellings(id) {
		r.queue(step{get("/pets/"+spelling).as("the id "+spelling, undefined), func(x *exchange) {
			r.check("pets.get.spelling", x, !x.Succeeded(), "%s gets the response of %d, %s", x.request.what, id, x.StatusLine())
		}})
	}
	r.play()
}

// plus returns id + sign·2^64 in decimal digits.
func plus(id, sign int64) string {
	n := new(big.Int).Lsh(big.NewInt(sign), 64)
	return n.Add(n, big.NewInt(id)).String()
}

// missingIDs are IDs that hardly any pet has.
var missingIDs = []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}

// notIDs are not IDs. $I stands for the ID of a pet.
var notIDs = []string{
	"9223372036854775808", "-9223372036854775809", "10000000000000000000000000000000000000000",
	"$Iabc", "$I%00", "$I.5", "$I%27", "$I%20or%20so", "$I,$I", "$I-1", "abc$I", "id=$I",
	"abc", "null", "undefined", "NaN", "-", "%00", "%FF", "%22", "%25", "%F0%9F%A6%8A", "1e9",
}

// spellings returns ways to write n that programming languages read, beside its
// decimal digits. They are escaped. If n is not positive, there are none.
func spellings(n int64) []string {
	if n <= 0 {
		return nil
	}
	return []string{
		fmt.Sprintf("0x%x", n), fmt.Sprintf("%%2B%d", n), fmt.Sprintf("%de0", n), fmt.Sprintf("0%d", n),
		fmt.Sprintf("%d.0", n), fmt.Sprintf("%%20%d", n), fmt.Sprintf("%d%%20", n),
	}
}
