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

func TestListParameters(t *testing.T) {
	s := newServer(t, nil)
	s.add("a", "b", "sold c", "d", "sold e")
	pets := []string{
		`{"id":1,"name":"a","categoryId":0}`,
		`{"id":2,"name":"b","categoryId":1}`,
		`{"id":3,"name":"sold c","categoryId":2,"status":"sold"}`,
		`{"id":4,"name":"d","categoryId":3}`,
		`{"id":5,"name":"sold e","categoryId":4,"status":"sold"}`,
	}
	after := func(id int64) string { return string(petstore.CursorAfter(id)) }
	for _, c := range []struct {
		ids     []int
		link    string // up to the cursor after the last pet; "": no more pages
		queries string
	}{
		{[]int{1, 2, 3, 4, 5}, "", "limit=5 limit=20 limit=100 limit=005"},
		{[]int{1}, "<?limit=1", "limit=1 %6Cimit=1 limit=%31"},
		{[]int{1, 2}, "<?limit=2", "limit=2"},
		{[]int{3, 5}, "", "status=sold status=s%6Fld"},
		{[]int{3}, "<?limit=1&status=sold", "status=sold&limit=1 limit=1&status=sold"},
		{nil, "", "status=available status=pending cursor=" + after(5) + " cursor=" + after(1<<40)},
		{[]int{3, 4, 5}, "", "cursor=" + after(2)},
		{[]int{5}, "", "limit=1&status=sold&cursor=" + after(3)},
		{[]int{2, 3}, "<?limit=2", "limit=2&cursor=" + after(1)},

		// Unknown parameters, in every form.
		{[]int{1, 2, 3, 4, 5}, "", `
			x=1 Limit=0 LIMIT=0&Status=gone limits=0 limit[]=0 page=2&offset=3 x = & &&limit=5&& x=%00%FF x=1&x=2&x`},
	} {
		var listed []string
		for _, id := range c.ids {
			listed = append(listed, pets[id-1])
		}
		if c.link != "" {
			c.link += "&cursor=" + after(int64(c.ids[len(c.ids)-1])) + `>; rel="next"`
		}
		s.want(want{status: 200, body: "[" + strings.Join(listed, ",") + "]"}.with("Link", c.link), gets("/pets?", c.queries)...)
	}

	s.want(bad("limit"), gets("/pets?limit", `
		=0 =101 =-1 =+1 =%2B1 =1.0 =1e1 =0x1 =1_0 =%201 =1%20 =1%00 = =ten =%EF%BC%91 =18446744073709551617 =4294967297
		=1&limit=1 =1&limit=0 =1&%6Cimit=2 =1,2 =1=1 =null =0&status=available`)...)
	s.want(bad("status"), gets("/pets?status", `
		= =Sold =SOLD =gone =sold%20 =+sold =sold,pending =sold&status=sold =sold&status=pending =%22sold%22 =sold%00`)...)
	s.want(bad("cursor"), gets("/pets?cursor=", "1 %FF "+after(2)[1:]+" "+after(2)+"A "+after(2)+"%3D "+after(2)+"&cursor= "+after(0)+" "+after(-1))...)
	s.want(bad("cursor"), get("/pets?cursor="), get("/pets?cursor"))
	s.want(bad("limit"), get("/pets?limit"), get("/pets?status=available&limit=0"))
	s.want(bad("status"), get("/pets?status"))
	s.want(bad("query"), gets("/pets?", `
		% %z x=% x=%2 x=%zz limit=%zz limit=5&%zz limit=5;x=1 x=a;b id=1; status=% limit=1% limit=5&a=%%`)...)
}

// TestForeignCursor: a service's cursor may be any text, and the link contains all
// of it.
func TestForeignCursor(t *testing.T) {
	const cursor = "a b>;\"<&=%\u00e9\x00+"
	var asked recorder[petstore.Cursor]
	s := newServer(t, nil)
	s.serve(httpapi.New(foreign{cursor: cursor, asked: &asked}, testKeys, nil))
	link := send(t, s.addr, get("/pets?limit=3")).Header.Get("Link")
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
		"cursor=" + string(petstore.CursorAfter(3)), "limit=+1", "x&&=&limit=007",
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
