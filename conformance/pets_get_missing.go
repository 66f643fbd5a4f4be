package conformance

import (
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} with an id that no pet has, or perhaps none.

var missingChecks = []Check{
	{
		ID: "pets.get.missing", Clause: "get-missing", Title: "an unknown id gets 404",
		Why:     "A client must be able to distinguish a missing pet from an error.",
		Failure: "A random id of 62 bits gets another status than 404.",
		run: func(t *tester) {
			x := t.getMissing()
			if x.Status != http.StatusGone || !t.getRemoved() {
				t.wantStatus(x, 404, "no pet has the id")
			}
		},
	},
	{
		ID: "pets.get.edges", Clause: "get-missing", Title: "the largest and smallest int64, 0, -1 and other likely ids get 404 or their pet",
		Why:     "Every int64 is a valid id.",
		Failure: "One of these ids gets another status than 200 and 404, or a pet with another id.",
		run: func(t *tester) {
			ids := []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}
			attempt(func() {
				if known := t.knownPet(); known < 1<<62 {
					ids = append(ids, known+1_000_003) // probably not assigned yet
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
		Failure: "An id outside int64, such as that of a known pet plus 2^64, gets a pet or a 5xx. The status 4xx is not judged.",
		run: func(t *tester) {
			known := int64(1) // the ids are useful without a pet too
			attempt(func() { known = t.knownPet() })
			for _, id := range []string{
				"9223372036854775808",
				"-9223372036854775809",
				plus(known, 1, 64),
				plus(known, 1, 32), // another pet may have it, if it is an int64
				plus(known, -1, 64),
				"1" + strings.Repeat("0", 40),
			} {
				x := t.get("/pets/" + id)
				got, ok := guess(x, parsePet)
				switch {
				case x.Status >= 500:
					t.wrongStatus(x, "4xx", "the id is out of range")
				case x.Status == http.StatusOK && !ok:
					fail(x, "no pet has the id %s, and the response is 200", id)
				case x.Status == http.StatusOK && strconv.FormatInt(got.ID, 10) != id:
					fail(x, "no pet has the id %s, and the response has the pet %d", id, got.ID)
				}
			}
		},
	},
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
