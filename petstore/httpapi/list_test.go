package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// TestForeignCursor: a service's cursor may be any text, and the link contains all
// of it.
func TestForeignCursor(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked recorder[petstore.Cursor]
	s := newServer(t, nil)
	s.h = httpapi.New(foreign{cursor: cursor, asked: &asked}, testKeys, nil)
	link := send(t, s.h, get("/pets?limit=3")).Header.Get("Link")
	target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !ok || strings.ContainsAny(target, "<> \"") {
		t.Fatalf("Link: %s", link)
	}
	s.want(found, get("/pets"+target))
	if diff := cmp.Diff([]petstore.Cursor{"", cursor}, asked.take()); diff != "" {
		t.Errorf("cursors asked for (-want +got):\n%s", diff)
	}
}

type foreign struct {
	badPets
	cursor petstore.Cursor
	asked  *recorder[petstore.Cursor]
}

func (f foreign) ListPets(_ context.Context, q petstore.ListQuery) (petstore.Page, error) {
	f.asked.add(q.After)
	return petstore.Page{Next: f.cursor}, nil
}

// FuzzQuery compares the list with one selected by the rules of the contract.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1", "limit=100&status=sold", "limit=0", "limit=1&limit=1", "l%69mit=%35", "status=", "%zz", "a;b",
		"cursor=" + string(petstore.CursorAfter(3)), "limit=+1", "x&&=&limit=007", "limit=2", "limit=5&x=%00%FF", "status=s%6Fld", "limit=30&status=sold",
		"status=pending&cursor=" + string(petstore.CursorAfter(3)), "limit=30&status=sold&cursor=" + string(petstore.CursorAfter(4)), "Limit=0&LIMIT=0&Status=gone",
		"cursor=" + string(petstore.CursorAfter(120)), "cursor=" + string(petstore.CursorAfter(1<<40)), "cursor=" + string(petstore.CursorAfter(0)),
	} {
		f.Add(seed)
	}
	store := memory.New(nil)
	statuses := []petstore.Status{"", petstore.StatusSold, petstore.StatusPending, petstore.StatusAvailable}
	for i := range 120 {
		if _, err := store.CreatePet(context.Background(), petstore.NewPet{Status: statuses[i%4]}, petstore.Once{}); err != nil {
			f.Fatal(err)
		}
	}
	h := httpapi.New(store, testKeys, nil)
	digits := regexp.MustCompile(`^0*([1-9][0-9]?|100)$`)
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/pets", nil)
		r.URL.RawQuery = query
		got := perform(t, h, r)

		values, err := url.ParseQuery(query)
		limit, status, after := 20, "", int64(0)
		ok := err == nil && len(values["limit"]) <= 1 && len(values["status"]) <= 1 && len(values["cursor"]) <= 1
		if ok && values.Has("limit") {
			ok = digits.MatchString(values.Get("limit"))
			limit, _ = strconv.Atoi(values.Get("limit"))
		}
		if ok && values.Has("status") {
			status = values.Get("status")
			ok = petstore.Status(status).Valid()
		}
		if ok && values.Has("cursor") {
			after, err = petstore.Cursor(values.Get("cursor")).ID()
			ok = err == nil && values.Get("cursor") != ""
		}
		if !ok {
			if got.Status != 400 {
				t.Fatalf("%q: status %d, want 400", query, got.Status)
			}
			return
		}
		var want []petstore.Pet
		link := ""
		for id := after + 1; id <= 120; id++ {
			if status != "" && string(statuses[(id-1)%4]) != status {
				continue
			}
			if len(want) == limit { // there are more
				filter := ""
				if status != "" {
					filter = "&status=" + status
				}
				link = fmt.Sprintf(`<?limit=%d%s&cursor=%s>; rel="next"`, limit, filter, petstore.CursorAfter(want[limit-1].ID))
				break
			}
			want = append(want, petstore.Pet{ID: id, NewPet: petstore.NewPet{Status: statuses[(id-1)%4]}})
		}
		var pets []petstore.Pet
		if err := json.Unmarshal([]byte(got.Body), &pets); err != nil || got.Status != 200 || got.Header.Get("Link") != link {
			t.Fatalf("%q: status %d, Link %s, want %s: %v", query, got.Status, got.Header.Get("Link"), link, err)
		}
		if diff := cmp.Diff(want, pets, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: pets (-want +got):\n%s", query, diff)
		}
	})
}
