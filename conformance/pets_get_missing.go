package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// GET /pets/{petId} with an id that no pet has, or perhaps none.

var getMissing = Check{
	ID: "pets.get.missing", Title: "an unknown id gets 404",
	Why:     "A client must be able to distinguish a missing pet from an error.",
	Failure: "A random id of 62 bits gets another status than 404.",
	run: func(t *tester) error {
		x, err := t.getMissing()
		if err != nil {
			return err
		}
		if removed, err := t.getRemoved(); removed && x.Status == http.StatusGone || err != nil {
			return err
		}
		return t.wantStatus(x, 404, "no pet has the id")
	},
}

var getEdges = Check{
	ID: "pets.get.edges", Title: "the largest and smallest int64, 0, -1 and other likely ids get 404 or their pet",
	Why:     "Every int64 is a valid id.",
	Failure: "One of these ids gets another status than 200 and 404, or a pet with another id.",
	run: func(t *tester) error {
		ids := []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}
		if known, err := t.knownPet(); err == nil && known < 1<<62 {
			ids = append(ids, known+1_000_003) // probably not assigned yet
		}
		for _, id := range ids {
			x, err := t.get(petPath(id))
			if err != nil {
				return err
			}
			switch x.Status {
			case http.StatusNotFound:
			case http.StatusOK:
				if err := wantID(x, id); err != nil {
					return err
				}
			default:
				if removed, err := t.getRemoved(); removed || err != nil {
					return err
				}
				return t.wrongStatus(x, "200 or 404", fmt.Sprintf("%d is an int64", id))
			}
		}
		return nil
	},
}

var getOverflow = Check{
	ID: "pets.get.overflow", Title: "an id outside int64 gets no pet",
	Why:     "An id that overflows or is cut returns the wrong pet.",
	Failure: "An id outside int64, such as that of a known pet plus 2^64, gets a pet or a 5xx. The status 4xx is not judged.",
	run: func(t *tester) error {
		known, err := t.knownPet()
		if err != nil {
			known = 1 // the ids are useful without a pet too
		}
		for _, id := range []string{
			"9223372036854775808",
			"-9223372036854775809",
			plus(known, 1, 64),
			plus(known, 1, 32), // another pet may have it, if it is an int64
			plus(known, -1, 64),
			"1" + strings.Repeat("0", 40),
		} {
			x, err := t.get("/pets/" + id)
			if err != nil {
				return err
			}
			if x.Status >= 500 {
				return t.wrongStatus(x, "4xx", "the id is out of range")
			}
			if x.Status != http.StatusOK {
				continue
			}
			if got, err := readPet(x); err != nil {
				return violationf(x, "no pet has the id %s, and the response is 200", id)
			} else if strconv.FormatInt(got.ID, 10) != id {
				return violationf(x, "no pet has the id %s, and the response has the pet %d", id, got.ID)
			}
		}
		return nil
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
func (t *tester) getMissing() (*probe.Exchange, error) {
	return share(t, "missing", func(t *tester) (*probe.Exchange, error) { return t.get(t.missingPath()) })
}
