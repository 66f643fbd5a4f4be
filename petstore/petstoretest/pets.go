package petstoretest

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/petstore"
)

// Multiplication by an odd number, modulo 2^64, gives each ID another one. The second
// number reverses the first.
const (
	spread   = 0x9E3779B97F4A7C15
	unspread = 0xF1DE83E19937733D
)

// shownID returns the ID that the difficulty ids shows for the ID of a pet in the store.
func shownID(id int64) int64 { return int64(uint64(id) * spread) }

func showIDs(x *exchange, _ *rand.Rand) bool {
	_, one := x.petID()
	return x.done && (one || x.path == "/pets") && x.edit(func(pets []object) bool {
		for _, pet := range pets {
			text := string(pet["id"])
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return false // an own handler has other objects
			}
			id = shownID(id)
			x.server.shown.Store(id, true)
			pet["id"] = jsontext.Value(strconv.FormatInt(id, 10))
			if at, ok := strings.CutSuffix(x.header.Get("Location"), "/"+text); ok {
				x.header.Set("Location", at+"/"+string(pet["id"]))
			}
		}
		return true
	})
}

// storeID is the reverse of showIDs.
func storeID(x *exchange, r *http.Request, _ *rand.Rand) {
	text, ok := x.petID()
	id, err := strconv.ParseInt(text, 10, 64)
	if ok && err == nil && strconv.FormatInt(id, 10) == text { // an ID has one form
		r.URL.Path, r.URL.RawPath = x.server.Prefix+"/pets/"+strconv.FormatInt(int64(uint64(id)*unspread), 10), ""
	}
}

func shuffle(x *exchange, r *rand.Rand) bool {
	return x.done && x.path == "/pets" && x.edit(func(pets []object) bool {
		r.Shuffle(len(pets), func(i, j int) { pets[i], pets[j] = pets[j], pets[i] })
		return len(pets) > 1
	})
}

// shortenPage lowers the limit of a page after the first, if its cursor has the same form
// for every limit.
func shortenPage(x *exchange, r *http.Request, random *rand.Rand) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	after, err2 := petstore.Cursor(query.Get("cursor")).ID()
	limit, err3 := strconv.Atoi(query.Get("limit"))
	if x.path == "/pets" && err == nil && err2 == nil && err3 == nil && after > 0 && limit > 1 && limit <= petstore.MaxLimit {
		x.limit = limit
		query.Set("limit", strconv.Itoa(1+random.IntN(limit-1)))
		r.URL.RawQuery = query.Encode()
	}
}

var limitParameter = regexp.MustCompile(`\blimit=\d+`)

// isShortPage reports whether the page was shortened. It lets the link to the next page have
// the limit of the request.
func isShortPage(x *exchange, _ *rand.Rand) bool {
	if x.limit == 0 {
		return false
	}
	links := x.header["Link"]
	for i, link := range links {
		links[i] = limitParameter.ReplaceAllString(link, "limit="+strconv.Itoa(x.limit))
	}
	return len(links) > 0
}

// nextPages is the path below which a server with the difficulty link-elsewhere has the
// pages of a list after the first one, by their queries.
const nextPages = "/pages/"

func linkElsewhere(x *exchange, _ *rand.Rand) bool {
	link, ours := strings.CutPrefix(x.header.Get("Link"), "<?")
	query, rest, _ := strings.Cut(link, ">")
	if !ours || strings.Contains(query, "#") || strings.Contains(query, "..") || len(x.header["Link"]) > 1 {
		return false // an own handler has other links
	}
	x.header.Set("Link", "<"+x.server.Prefix+nextPages+url.PathEscape(query)+">"+rest)
	return true
}

// fromElsewhere is the reverse of linkElsewhere.
func fromElsewhere(x *exchange, r *http.Request, _ *rand.Rand) {
	query, ok := strings.CutPrefix(x.path, nextPages)
	if !ok || r.Method == http.MethodPost {
		return
	}
	// A link that is only a query is relative to this page.
	x.path, x.query = "/pets", cmp.Or(x.query, query)
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = x.server.Prefix+x.path, "", x.query
}
