package httpapi_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
)

func TestListParameters(t *testing.T) {
	s := newServer(t, nil)
	s.add("a", "b", "sold c", "d", "sold e")
	const (
		a = `{"id":1,"name":"a","categoryId":0}`
		b = `{"id":2,"name":"b","categoryId":1}`
		c = `{"id":3,"name":"sold c","categoryId":2,"status":"sold"}`
		d = `{"id":4,"name":"d","categoryId":3}`
		e = `{"id":5,"name":"sold e","categoryId":4,"status":"sold"}`
	)
	list := func(link string, pets ...string) want {
		return want{status: 200, body: "[" + strings.Join(pets, ",") + "]", header: map[string]string{"Link": link}}
	}
	next := func(limit int, status string, after int64) string {
		return fmt.Sprintf(`<?limit=%d%s&cursor=%s>; rel="next"`, limit, status, petstore.CursorAfter(after))
	}
	all := list("", a, b, c, d, e)
	after := func(id int64) string { return string(petstore.CursorAfter(id)) }

	var cases []rawCase
	for query, w := range map[string]want{
		"":                                       all,
		"limit=1":                                list(next(1, "", 1), a),
		"limit=2":                                list(next(2, "", 2), a, b),
		"limit=5":                                all,
		"limit=20":                               all,
		"limit=100":                              all,
		"limit=005":                              all, // decimal digits, and in range
		"%6Cimit=1":                              list(next(1, "", 1), a),
		"limit=%31":                              list(next(1, "", 1), a),
		"status=sold":                            list("", c, e),
		"status=sold&limit=1":                    list(next(1, "&status=sold", 3), c),
		"limit=1&status=sold":                    list(next(1, "&status=sold", 3), c),
		"status=s%6Fld":                          list("", c, e),
		"status=available":                       list(""),
		"status=pending":                         list(""),
		"cursor=" + after(2):                     list("", c, d, e),
		"cursor=" + after(5):                     list(""),
		"cursor=" + after(1<<40):                 list(""),
		"limit=1&status=sold&cursor=" + after(3): list("", e),
		"limit=2&cursor=" + after(1):             list(next(2, "", 3), b, c),

		// Unknown parameters, in every form.
		"x=1":                 all,
		"Limit=0":             all,
		"LIMIT=0&Status=gone": all,
		"limits=0":            all,
		"limit[]=0":           all,
		"page=2&offset=3":     all,
		"x":                   all,
		"=":                   all,
		"&":                   all,
		"&&limit=5&&":         all,
		"x=%00%FF":            all,
		"x=1&x=2&x":           all,
		"id=1;":               bad("query"),

		"limit=0":                    bad("limit"),
		"limit=101":                  bad("limit"),
		"limit=-1":                   bad("limit"),
		"limit=+1":                   bad("limit"),
		"limit=%2B1":                 bad("limit"),
		"limit=1.0":                  bad("limit"),
		"limit=1e1":                  bad("limit"),
		"limit=0x1":                  bad("limit"),
		"limit=1_0":                  bad("limit"),
		"limit=%201":                 bad("limit"),
		"limit=1%20":                 bad("limit"),
		"limit=1%00":                 bad("limit"),
		"limit=":                     bad("limit"),
		"limit":                      bad("limit"),
		"limit=ten":                  bad("limit"),
		"limit=%EF%BC%91":            bad("limit"),
		"limit=18446744073709551617": bad("limit"),
		"limit=4294967297":           bad("limit"),
		"limit=1&limit=1":            bad("limit"),
		"limit=1&limit=0":            bad("limit"),
		"limit=1&%6Cimit=2":          bad("limit"),
		"limit=1,2":                  bad("limit"),
		"limit=1=1":                  bad("limit"),
		"limit=null":                 bad("limit"),

		"status=":                         bad("status"),
		"status":                          bad("status"),
		"status=Sold":                     bad("status"),
		"status=SOLD":                     bad("status"),
		"status=gone":                     bad("status"),
		"status=sold%20":                  bad("status"),
		"status=+sold":                    bad("status"),
		"status=sold,pending":             bad("status"),
		"status=sold&status=sold":         bad("status"),
		"status=sold&status=pending":      bad("status"),
		"status=%22sold%22":               bad("status"),
		"status=sold%00":                  bad("status"),
		"status=available&limit=0":        bad("limit"),
		"cursor=":                         bad("cursor"),
		"cursor":                          bad("cursor"),
		"cursor=1":                        bad("cursor"),
		"cursor=" + after(2)[1:]:          bad("cursor"),
		"cursor=" + after(2) + "A":        bad("cursor"),
		"cursor=" + after(2) + "%3D":      bad("cursor"),
		"cursor=" + after(0):              bad("cursor"),
		"cursor=" + after(-1):             bad("cursor"),
		"cursor=%FF":                      bad("cursor"),
		"cursor=" + after(2) + "&cursor=": bad("cursor"),

		"%":            bad("query"),
		"%z":           bad("query"),
		"x=%":          bad("query"),
		"x=%2":         bad("query"),
		"x=%zz":        bad("query"),
		"limit=%zz":    bad("query"),
		"limit=5&%zz":  bad("query"),
		"limit=5;x=1":  bad("query"),
		"x=a;b":        bad("query"),
		"status=%":     bad("query"),
		"limit=1%":     bad("query"),
		"limit=5&a=%%": bad("query"),
	} {
		cases = append(cases, rawCase{query, get("/pets?" + query), w})
	}
	s.run(cases)
}

// TestPages follows the links of a list, with many limits.
func TestPages(t *testing.T) {
	s := newServer(t, nil)
	var want []string
	for i := range 45 {
		name := fmt.Sprintf("pet %d", i)
		if i%3 == 0 {
			name = "sold " + name
		}
		s.add(name)
		want = append(want, name)
	}
	sold := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return !strings.HasPrefix(s, "sold") })
	for _, query := range []string{"", "?limit=1", "?limit=7", "?limit=45", "?limit=100", "?limit=44&x=y"} {
		if got := s.walk(t, "/pets"+query); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
	for _, query := range []string{"?status=sold", "?limit=1&status=sold", "?status=sold&limit=14"} {
		if got := s.walk(t, "/pets"+query); !slices.Equal(got, sold) {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// walk returns the names on the page at target and on all that follow.
func (s *server) walk(t *testing.T, target string) (names []string) {
	t.Helper()
	base, err := url.Parse("http://h" + target)
	if err != nil {
		t.Fatal(err)
	}
	for {
		a := send(t, s.addr, get(base.RequestURI()))
		if err := a.check(want200); err != nil {
			t.Fatal(err)
		}
		for _, p := range decodePets(t, a.body) {
			names = append(names, p.Name)
		}
		link := a.header.Get("Link")
		if link == "" {
			return names
		}
		target, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok {
			t.Fatalf("Link: %s", link)
		}
		if base, err = base.Parse(target); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLargePage: a large page ends early, with a link to the next.
func TestLargePage(t *testing.T) {
	s := newServer(t, nil)
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(i)+strings.Repeat("x", 512<<10))
	}
	s.add(want...)
	a := send(t, s.addr, get("/pets?limit=20"))
	if err := a.check(want200); err != nil {
		t.Fatal(err)
	}
	if n := len(a.body); n < petstore.MaxPageBytes || n > petstore.MaxPageBytes+600<<10 || a.header.Get("Link") == "" {
		t.Errorf("a page of %d bytes, Link: %q", n, a.header.Get("Link"))
	}
	if got := s.walk(t, "/pets?limit=20"); !slices.Equal(got, want) {
		t.Errorf("%d pets on all pages, want %d", len(got), len(want))
	}
}
