package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// perform passes r to h with a credential, and checks what must hold for every
// response: an Error body with 400 and above, and never 5xx.
func perform(t *testing.T, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code >= 400 {
		var e struct {
			Code, Message string
			Status        int
		}
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Code == "" || e.Message == "" || e.Status != w.Code {
			t.Fatalf("status %d, Error body %q: %v", w.Code, w.Body, err)
		}
		if len(e.Message) > 1000 {
			t.Fatalf("message of %d bytes", len(e.Message))
		}
	}
	if w.Code >= 500 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w
}

// FuzzBody compares the decoder with a naive one: both accept the same bodies,
// with the same values, and an accepted one is returned unchanged.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		rexBody, `{"name":"\ud83d\udc15","categoryId":-0,"status":"sold","x":[1,{"y":null}]}`,
		`{"name":"a","name":"b","categoryId":1}`, `{"name":"a","categoryId":9223372036854775808}`,
		`{"name":"a","categoryId":1.0}`, `{"name":"\udc15","categoryId":1}`, "{\"name\":\"\xff\",\"categoryId\":1}",
		`{"name":null,"categoryId":1}`, `{}`, `null`, `[]`, "", " ", `{"name":"a","categoryId":1} {}`,
		`{"x":{"y":1,"\u0079":2},"name":"","categoryId":0}`, `{"name":"a","categoryId":1,"status":""}`,
	} {
		f.Add(seed)
	}
	h := httpapi.New(new(onceService), testKeys, nil)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := perform(t, h, r)
		want, ok := naiveNewPet(body)
		if !ok {
			if w.Code != 400 {
				t.Fatalf("%q: status %d, want 400: %s", body, w.Code, w.Body)
			}
			return
		}
		var got petstore.Pet
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 201 || got.NewPet != want {
			t.Fatalf("%q: status %d %s, want %+v", body, w.Code, w.Body, want)
		}
		again, ok := naiveNewPet(w.Body.String())
		if !ok || again != want {
			t.Fatalf("%q: response %s does not round-trip", body, w.Body)
		}
	})
}

// naiveNewPet decodes the body of createPet in the simplest way.
func naiveNewPet(body string) (p petstore.NewPet, ok bool) {
	v, ok := parseJSON(body)
	if !ok {
		return p, false
	}
	object, ok := v.(map[string]any)
	if !ok {
		return p, false
	}
	name, ok1 := object["name"].(string)
	number, ok2 := object["categoryId"].(json.Number)
	category, err := strconv.ParseInt(string(number), 10, 64)
	if !ok1 || !ok2 || err != nil {
		return p, false
	}
	p = petstore.NewPet{Name: name, CategoryID: category}
	if v, ok := object["status"]; ok {
		status, _ := v.(string)
		if status != "available" && status != "pending" && status != "sold" {
			return p, false
		}
		p.Status = petstore.Status(status)
	}
	return p, true
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
		w := perform(t, h, r)

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
			if w.Code != 400 {
				t.Fatalf("%q: status %d, want 400", query, w.Code)
			}
			return
		}
		n := 0
		for id := after + 1; id <= 120 && n < limit; id++ {
			if status == "" || string(statuses[(id-1)%4]) == status {
				n++
			}
		}
		if got := decodePets(t, w.Body.String()); w.Code != 200 || len(got) != n {
			t.Fatalf("%q: status %d, %d pets, want %d", query, w.Code, len(got), n)
		}
	})
}

// onceService records the Once of the last CreatePet.
type onceService struct {
	badPets
	once petstore.Once
}

func (s *onceService) CreatePet(_ context.Context, p petstore.NewPet, once petstore.Once) (petstore.Pet, error) {
	s.once = once
	return petstore.Pet{ID: 1, NewPet: p}, nil
}

// FuzzIdempotencyKey compares the field's parser with two regular expressions.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"", "k", `"k"`, `"`, `""`, `"a\"b\\"`, `"a`, `a"b`, "a b", "\"a\tb\"", `"k";x`, strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	bare := regexp.MustCompile(`^[!#-~][!-~]{0,254}$`)
	quoted := regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\]){1,255})"$`)
	f.Fuzz(func(t *testing.T, field string) {
		service := new(onceService)
		r := httptest.NewRequest("POST", "/pets", strings.NewReader(rexBody))
		r.Header.Set("Content-Type", "application/json")
		r.Header["Idempotency-Key"] = []string{field}
		w := perform(t, httpapi.New(service, testKeys, nil), r)
		key := ""
		if m := quoted.FindStringSubmatch(field); m != nil {
			key = regexp.MustCompile(`\\(.)`).ReplaceAllString(m[1], "$1")
		} else if bare.MatchString(field) {
			key = field
		}
		switch {
		case key == "" && w.Code != 400:
			t.Fatalf("%q: status %d, want 400", field, w.Code)
		case key != "" && (w.Code != 201 || service.once != petstore.Once{Scope: "alice", Key: key}):
			t.Fatalf("%q: status %d, %+v, want key %q", field, w.Code, service.once, key)
		}
	})
}

// FuzzPath compares the routing with one that reads the path segment by segment.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"/pets", "/pets/1", "/pets/%31", "/pets%2F1", "/pets/", "//pets", "/pets/./1", "/pets/-1", "/pets/01", "/p%65ts",
		"/pets/9223372036854775808", "http://h/pets/1", "/pets/%2e", "*", "/pets/1?x", "/pets/1;a",
	} {
		f.Add(seed)
	}
	store := memory.New(nil)
	if _, err := store.CreatePet(context.Background(), petstore.NewPet{}, petstore.Once{}); err != nil {
		f.Fatal(err)
	}
	h := httpapi.New(store, testKeys, nil)
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return // net/http responds
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.URL = u
		r.URL.RawQuery = ""
		w := perform(t, h, r)

		segments := strings.Split(u.EscapedPath(), "/")
		for i := range segments {
			if segments[i], err = url.PathUnescape(segments[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := 404
		if len(segments) > 1 && segments[0] == "" && segments[1] == "pets" &&
			(len(segments) == 2 || len(segments) == 3 && segments[2] == "1") {
			want = 200
		}
		if w.Code != want {
			t.Fatalf("%q: status %d, want %d", target, w.Code, want)
		}
	})
}
