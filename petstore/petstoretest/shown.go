package petstoretest

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"net/url"
	"strings"

	"example.com/animalstore/petstore"
)

// These difficulties change the IDs of pets, and the order and the pages of lists.

// showsPets reports whether the response has at least n pets.
func showsPets(n int) action {
	return func(x *exchange, _ *rand.Rand) bool {
		return x.done && strings.HasPrefix(x.path, "/pets") && strings.Count(string(x.response), `"id":`) >= n
	}
}

// ids shows pets with other IDs. The function other is its own inverse.
func ids(other func(int64) int64) func(*view, uint64) {
	return func(v *view, _ uint64) { v.id = other }
}

func negative(id int64) int64 { return -id }

// huge returns a sparse ID above 2^60 whose low bits are not 0. A program that
// rounds such an ID to a floating-point number or to 32 bits gets another number,
// which no pet has as its ID.
func huge(id int64) int64 {
	const far = 1<<60 | 0x3A5C9E51
	if id >= 1<<60 {
		return sparse(id ^ far)
	}
	return sparse(id) ^ far
}

// sparse reverses the 52 lowest bits: 1 becomes 2^51 and 2 becomes 2^50.
func sparse(id int64) int64 {
	if id < 0 || id >= 1<<52 {
		return id
	}
	return int64(bits.Reverse64(uint64(id) << 12))
}

// order shows lists in another order.
func order(compare func(a, b petstore.Pet, seed uint64) int) func(*view, uint64) {
	return func(v *view, seed uint64) {
		v.order = func(a, b petstore.Pet) int { return compare(a, b, seed) }
	}
}

func newestFirst(a, b petstore.Pet, _ uint64) int { return cmp.Compare(b.ID, a.ID) }
func byName(a, b petstore.Pet, _ uint64) int      { return cmp.Compare(a.Name, b.Name) }

// byHash puts pets in an order that looks random: it compares a hash of their
// IDs.
func byHash(a, b petstore.Pet, seed uint64) int {
	mix := func(id int64) uint64 { return bits.Reverse64((uint64(id) ^ seed) * 0x9E3779B97F4A7C15) }
	return cmp.Compare(mix(a.ID), mix(b.ID))
}

func shortPages(v *view, seed uint64) {
	v.limit = func(limit int, after int64) int { return 1 + random(seed, "short-pages", after).IntN(limit) }
}

func isShortPage(x *exchange, _ *rand.Rand) bool {
	return x.done && x.path == "/pets" && strings.Contains(x.query, "cursor=") && x.header.Get("Link") != ""
}

func noLink(x *exchange, _ *rand.Rand) bool {
	if x.path != "/pets" || x.header.Get("Link") == "" {
		return false
	}
	x.header.Del("Link")
	return true
}

// linkElsewhere makes Location and Link lead to the other address.
func linkElsewhere(x *exchange, _ *rand.Rand) bool {
	base, err := url.Parse(x.elsewhere + x.path)
	if err != nil {
		return false
	}
	resolve := func(reference string) string {
		u, err := base.Parse(reference)
		if err != nil {
			return reference
		}
		return u.String()
	}
	if location := x.header.Get("Location"); location != "" {
		x.header.Set("Location", resolve(location))
		return true
	}
	reference, rest, found := strings.Cut(strings.TrimPrefix(x.header.Get("Link"), "<"), ">")
	if found {
		x.header.Set("Link", "<"+resolve(reference)+">"+rest)
	}
	return found
}

func noDeprecation(x *exchange, _ *rand.Rand) bool {
	had := x.header.Get("Deprecation") != ""
	x.header.Del("Deprecation")
	x.header.Del("Sunset")
	return had
}
