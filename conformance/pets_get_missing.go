package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} with an id that no pet has, or perhaps none.

var missingChecks = []Check{
	{
		ID: "pets.get.missing", Clause: "get-missing", Title: "an unknown id gets 404",
		Why:     "A client must be able to distinguish a missing pet from an error.",
		Failure: "A random id of 62 bits gets a status other than 404.",
		run: func(t *tester) {
			x := t.getMissing()
			if x.Status != http.StatusGone || !t.getRemoved() {
				t.wantStatus(x, 404, "no pet has the id")
			}
		},
	},
	{
		ID: "pets.get.edges", Clause: "get-missing", Title: "the largest and smallest int64, 0, -1, the negative of an id and other likely ids get 404 or their pet",
		Why:     "Every int64 is a valid id.",
		Failure: "One of these ids gets a status other than 200 and 404, or a pet with another id.",
		run: func(t *tester) {
			ids := []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}
			attempt(func() {
				if known := t.knownPet(); known < 1<<62 {
					ids = append(ids, -known, known+1_000_003) // probably not assigned yet
				}
			})
			for _, id := range ids {
				switch x := t.get(petPath(id)); {
				case x.Status == http.StatusOK:
					wantID(x, id)
				case x.Status != http.StatusNotFound && !t.getRemoved():
					t.wrongStatus(x, "200 or 404", "%d is an int64", id)
				}
			}
		},
	},
	{
		ID: "pets.get.overflow", Clause: "get-missing", Title: "an id outside int64 gets no pet",
		Why:     "An id that overflows or is cut returns the wrong pet.",
		Failure: "An id outside int64, such as that of a known pet plus 2^64, gets a pet or a 5xx. Which 4xx it gets is not judged.",
		run: func(t *tester) {
			known := t.someID()
			for _, id := range []string{
				"9223372036854775808",
				"-9223372036854775809",
				plus(known, 1, 64),
				plus(known, 1, 32), // another pet may have it, if it is an int64
				plus(known, -1, 64),
				"1" + strings.Repeat("0", 40),
			} {
				t.wantNoOther(id)
			}
		},
	},
	{
		ID: "pets.get.almost", Clause: "get-missing", Title: "an id of a pet with something before or after it gets no pet",
		Why:     "A server that reads only the digits at the start returns a pet that the client did not ask for.",
		Failure: "The id of a known pet with letters, a fraction, a quote or words after it, or letters before it, gets a pet or a 5xx. Which 4xx it gets is not judged.",
		run: func(t *tester) {
			known := t.someID()
			for _, form := range []string{"%dabc", "%d.5", "%d'", "%d or so", "%d,%[1]d", "%d-1", "abc%d", "id=%d"} {
				t.wantNoOther(url.PathEscape(fmt.Sprintf(form, known)))
			}
		},
	},
	{
		ID: "pets.get.word", Clause: "get-missing", Title: "a word for an id gets no pet",
		Why:     "A server that takes a word for 0 or for nothing returns a pet, or all of them.",
		Failure: "The id abc, null, undefined or NaN gets a pet or a 5xx. Which 4xx it gets is not judged.",
		run: func(t *tester) {
			for _, word := range []string{"abc", "null", "undefined", "NaN"} {
				t.wantNoOther(word)
			}
		},
	},
	{
		ID: "pets.get.encoded", Clause: "rfc-encoded", Title: "an id in percent-encoding gets its pet",
		Why:     "Some clients encode more than they must.",
		Failure: "The id of a known pet with every digit in percent-encoding does not get that pet.",
		run: func(t *tester) {
			t.wantNotRemoved()
			known := t.knownPet()
			var encoded string
			for _, c := range strconv.FormatInt(known, 10) {
				encoded += fmt.Sprintf("%%%X", c)
			}
			x := t.get("/pets/" + encoded)
			t.wantInStore(known, x)
			wantID(x, known)
		},
	},
	{
		ID: "pets.get.asked-before", Clause: "get", Title: "a pet is found after its id got 404", Writes: true,
		Why:     "A server that remembers that there is no such pet hides the pet.",
		Failure: "An id gets 404, is then assigned to a new pet, and still does not get 200.",
		phase:   filling, run: func(t *tester) {
			t.wantNotRemoved()
			next := t.newest() + 1
			const n = 10 // other checks and other clients add pets meanwhile
			t.parallel(n, n, func(t *tester, i int) { t.get(petPath(next + int64(i))) })
			t.add("sold")
			for id := next; id < next+n; id++ {
				if t.s.hasCreated(id) {
					x := t.get(petPath(id))
					t.wantStatus(x, 200, "the pet %d was added after its id had been asked for", id)
					wantID(x, id)
				}
			}
		},
	},
}

// wantNoOther requests a pet by an id that no pet has, or in a form that is not an
// id. It ends the check if the response is a 5xx, or a success without a pet whose id
// is written exactly so.
func (t *tester) wantNoOther(id string) {
	x := t.get("/pets/" + id)
	got, noPet := parsePet(x)
	switch {
	case x.Status >= 500:
		t.wrongStatus(x, "4xx", "no pet has the id %s", id)
	case x.Succeeded() && noPet != nil:
		fail(x, "no pet has the id %s, and the response is %s", id, x.StatusLine())
	case x.Succeeded() && strconv.FormatInt(got.ID, 10) != id:
		fail(x, "no pet has the id %s, and the response has the pet %d", id, got.ID)
	}
}

// plus returns id + sign·2^bits in decimal digits.
func plus(id, sign int64, bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(sign), bits)
	return n.Add(n, big.NewInt(id)).String()
}

// missingPath returns the path of a pet that does not exist. No store has enough
// pets for a random id of 62 bits to be in use.
func (t *tester) missingPath() string { return petPath(1<<62 | t.random().Int64N(1<<62)) }

// getMissing requests a pet that does not exist, once for all checks.
func (t *tester) getMissing() *probe.Exchange {
	return share(t, "missing", func(t *tester) *probe.Exchange { return t.get(t.missingPath()) })
}
