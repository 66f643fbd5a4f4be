package petstoretest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// knownPet is a pet that was in a response.
type knownPet struct {
	met    []string // the difficulties of the first exchange with the pet
	listed bool     // the pet was in a list
}

// learnPets records the pets in the response.
func (w *watcher) learnPets(x *exchange) {
	if text, ok := x.petID(); ok {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && w.pets[id] != nil {
			w.handle(w.pets[id].met, "ids-huge", "ids-negative", "ids-sparse")
		}
	}
	type pet struct {
		ID *int64 `json:"id"`
	}
	var pets []pet
	list := x.path == "/pets" && x.method == "GET"
	switch {
	case list:
		w.listed = x.began
		_ = json.Unmarshal(x.response, &pets) // our own response is valid
	case x.path != "/messages":
		pets = make([]pet, 1)
		_ = json.Unmarshal(x.response, &pets[0])
	}
	for _, p := range pets {
		if p.ID == nil {
			continue
		}
		known := w.pets[*p.ID]
		if known == nil {
			known = &knownPet{met: x.met}
			w.pets[*p.ID] = known
			for _, text := range roundings(*p.ID) {
				w.rounded[text] = *p.ID
			}
		}
		known.listed = known.listed || list
		if x.isCreate() {
			c := w.creations[x.creation()]
			c.pet, c.petKey, c.petAt = known, x.onceKey(), x.ended
		}
	}
}

// roundings returns, as decimal digits, the numbers that n becomes in a program
// that keeps it as a floating-point number or as a 32-bit integer. It leaves out
// numbers that somebody may use for another reason: numbers near n, small numbers,
// and numbers near a power of two.
func roundings(n int64) []string {
	all := []string{strconv.FormatInt(int64(int32(n)), 10)}
	for _, bits := range []int{32, 64} {
		f := float64(n)
		if bits == 32 {
			f = float64(float32(n))
		}
		// With all digits; and as JavaScript writes it, with zeros at the end.
		all = append(all, strconv.FormatFloat(f, 'f', 0, 64), strconv.FormatFloat(f, 'f', -1, bits))
	}
	return slices.DeleteFunc(all, func(text string) bool {
		r, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return false // above int64
		}
		near := func(m int64) bool { return uint64(r-m+1) <= 2 }
		ambiguous := near(n) || r > -1<<16 && r < 1<<16
		for bit := range 64 {
			ambiguous = ambiguous || near(1<<bit) || near(-1<<bit)
		}
		return ambiguous
	})
}

// category returns the JSON text of categoryId in the request's body, or "".
func (x *exchange) category() string {
	var body struct {
		Category jsontext.Value `json:"categoryId"`
	}
	_ = json.Unmarshal(x.body, &body)
	return string(body.Category)
}

// roundedInteger finds a request for a rounding of an ID, and a repeated creation
// with a rounding of its categoryId.
func roundedInteger(w *watcher, x *exchange) *mistake {
	if text, ok := x.petID(); ok && x.status == http.StatusNotFound {
		id, ok := w.rounded[text]
		if asked, err := strconv.ParseInt(text, 10, 64); !ok || err == nil && w.pets[asked] != nil {
			return nil
		}
		return &mistake{did: fmt.Sprintf("requested pet %s, which is a rounded form of the ID %d", text, id)}
	}
	if first, again := w.firsts[x.keyed()]; again && x.method == "POST" {
		if text := x.category(); slices.Contains(roundings(first.category), text) {
			return &mistake{did: fmt.Sprintf("repeated request %d with the categoryId %s, which is a rounded form of %d", first.number, text, first.category)}
		}
	}
	return nil
}
