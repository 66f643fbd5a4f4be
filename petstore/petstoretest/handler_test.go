package petstoretest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore"
)

// Each difficulty is visible in responses of a difficult server, and in no other. The same seed
// leads to the same, and equal requests fail at most twice.
func TestDifficulties(t *testing.T) {
	plain, difficult := responses(t, nil), responses(t, &Options{Difficult: true, Seed: 1})
	for _, pattern := range []string{
		`\nRetry-After: (1|[A-Z][a-z]+, )\r`, `^503(.*\n)+Retry-After: 0\r\n(.*\n)*.*"status":503`, `^429(.*\n)+.*"status":429`,
		`^EOF$`, `^20.(.*\n)+.*unexpected EOF$`,
		`"id":-7046029254386353131,`, `"id":4354685564936845354,`, `\[\{"_links"`, `\n\{"_links".*"msg_`,
	} {
		re := regexp.MustCompile(pattern)
		if in, out := slices.ContainsFunc(difficult, re.MatchString), slices.ContainsFunc(plain, re.MatchString); !in || out {
			t.Errorf("%s: in a difficult server %v, in a plain one %v", re, in, out)
		}
	}
	for seed := range uint64(3) {
		if slices.Equal(difficult, responses(t, &Options{Difficult: true, Seed: seed})) != (seed == 1) {
			t.Errorf("seed %d: other responses than before, or the same as with seed 1", seed)
		}
	}
	failed := regexp.MustCompile(`^(429|503)|EOF$`)
	n, equal := 0, 0
	for i, text := range difficult {
		if failed.MatchString(text) {
			n++
			if i%4 == 1 { // GET /pets/none
				equal++
			}
		}
	}
	if equal != 2 || n < 10 || n > len(difficult)/3 {
		t.Errorf("%d of %d requests failed, and %d equal ones, want 2", n, len(difficult), equal)
	}
}

// accidental matches what differs from one run to the next.
var accidental = regexp.MustCompile(
	`(Date|X-Request-Id): .*\r\n|"createdAt":\s*"[^"]*"|\d+ [A-Z][a-z]+ \d+ [0-9:]+ GMT|127.0.0.1:\d+`)

func responses(t *testing.T, o *Options) (all []string) {
	t.Helper()
	srv := httptest.NewServer(NewHandler(o))
	defer srv.Close()
	send := func(method, target, body string) {
		req, _ := http.NewRequest(method, srv.URL+"/v1"+target, strings.NewReader(body))
		req.Header = http.Header{"Authorization": {"Bearer " + Key}, "Content-Type": {"application/json"}}
		var text strings.Builder
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err == nil {
			fmt.Fprintln(&text, resp.StatusCode)
			_ = resp.Header.Write(&text)
			_, err = io.Copy(&text, resp.Body)
			resp.Body.Close()
		}
		if err != nil {
			fmt.Fprint(&text, err)
		}
		all = append(all, accidental.ReplaceAllString(text.String(), ""))
	}
	for i := range 50 {
		send("POST", "/pets", fmt.Sprintf(`{"name":"cat %d","categoryId":1}`, i))
		send("GET", "/pets/none", "")
		send("POST", "/messages", `{"message":"hello `+fmt.Sprint(i)+`"}`)
		send("GET", "/pets?limit=3", "")
	}
	return all
}

// step is a request of a client and its response. It begins a millisecond after the one before
// it ended, and lasts one.
type step struct {
	request string        // "POST /pets", and the body
	key     string        // the Idempotency-Key
	status  int           // 0: the connection was cut after the request was carried out, -1: before; 429 asks the client to wait
	after   time.Duration // how much later it begins; negative: before the one before it ended
	next    string        // the query of the link in the response
}

const rex = "POST /pets Rex"

// after returns a summary of the steps, of a server with pet 1.
func after(t *testing.T, steps []step) Summary {
	t.Helper()
	h := NewHandler(&Options{Difficult: true})
	if _, err := h.store.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{}); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	for _, s := range steps {
		part := strings.SplitN(s.request+" ", " ", 3)
		x := &exchange{
			request: httptest.NewRequest(part[0], "/v1"+part[1], nil),
			body:    []byte(part[2]),
			began:   ended.Add(time.Millisecond + s.after),
			failed:  s.status <= 0 || s.status == 429, cut: s.status <= 0,
			done: s.status == 0 || s.status/100 == 2, status: max(s.status, 0),
			header: http.Header{},
		}
		x.request.Header.Set("Idempotency-Key", s.key)
		if s.next != "" {
			x.header.Set("Link", "<?"+s.next+`>; rel="next"`)
		}
		h.see(x)
		if s.status == 429 {
			h.mustWait = x
		}
		ended = x.began.Add(time.Millisecond)
		x.ended = ended
	}
	return h.Summary()
}

func TestRules(t *testing.T) {
	page := step{request: "GET /pets?limit=2", status: 200, next: "limit=2&cursor=a%2B"}
	link := step{request: "GET /pets?limit=2&cursor=a%2B", status: 200}
	docs, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		want  string // names of the findings, and failures, repeated, links, followed
		steps []step
	}{
		{"no key", "repeated-without-key 0 0 0 0", []step{{request: rex}, {request: rex, status: 201}}},
		{"another key", "repeated-without-key 1 1 0 0", []step{{request: rex, key: "a"}, {request: rex, key: "b", status: 201}}},
		{"a message", "repeated-without-key 0 0 0 0", []step{{request: "POST /messages hi"}, {request: "POST /messages hi", status: 202}}},
		{"the same key, and later an equal pet", "1 1 0 0", []step{{request: rex, key: "a"}, {request: rex, key: "a", status: 201}, {request: rex, key: "b", status: 201}}},
		{"not carried out the first time", "0 0 0 0", []step{{request: rex, status: -1}, {request: rex, status: 201}}},
		{"at the same time", "0 0 0 0", []step{{request: rex}, {request: rex, status: 201, after: -2 * time.Millisecond}}},
		{"none lost", "0 0 0 0", []step{{request: rex, status: 201}, {request: rex, status: 201}}},

		{"at once", "ignored-retry-after 1 1 0 0", []step{{request: rex, status: 429}, {request: rex, status: 201, after: 800 * time.Millisecond}}},
		{"in time", "1 1 0 0", []step{{request: rex, status: 429}, {request: rex, status: 201, after: time.Second}}},
		{"another key", "1 1 0 0", []step{{request: rex, key: "a", status: 429}, {request: rex, key: "b", status: 201}}},
		{"another pet", "1 0 0 0", []step{{request: rex, status: 429}, {request: "POST /pets Max", status: 201}}},
		{"under way already", "1 0 0 0", []step{{request: rex, status: 429}, {request: rex, status: 201, after: -2 * time.Millisecond}}},

		{"page", "own-cursor 0 0 0 0", []step{{request: "GET /pets?limit=2&start_after=2", status: 200}}},
		{"parameters of a proxy", "0 0 0 0", []step{{request: "GET /pets?_=1234&utm_source=x&per_page=20", status: 200}}},

		{"float64", "rounded-id 0 0 0 0", []step{{request: "GET /pets/-7046029254386353152", status: 404}}},
		{"float64 of JavaScript", "rounded-id 0 0 0 0", []step{{request: "GET /pets/-7046029254386353000", status: 404}}},
		{"int32", "rounded-id 0 0 0 0", []step{{request: "GET /pets/2135587861", status: 404}}},
		{"a neighbour", "0 0 0 0", []step{{request: "GET /pets/-7046029254386353130", status: 404}}},

		{"one read of two", "2 1 0 0", []step{{request: "GET /pets", status: -1}, {request: "GET /pets/1", status: -1}, {request: "GET /pets", status: 200}, {request: "GET /pets", status: 200}}},
		{"a read that is repeated twice", "2 2 0 0", []step{{request: "GET /pets", status: -1}, {request: "GET /pets", status: -1}, {request: "GET /pets", status: 200}}},
		{"a link that is not followed", "0 0 1 0", []step{page, page, {request: "GET /pets?limit=2", status: 200}}},
		{"a link that is followed", "0 0 1 1", []step{page, link, page}},
	} {
		s := after(t, tt.steps)
		got := fmt.Sprint(s.Failures, s.Repeated, s.Links, s.Followed)
		for _, f := range s.Findings {
			got = f.Name + " " + got
			if !bytes.Contains(docs, []byte("\n| `"+f.Name+"` |")) {
				t.Errorf("docs/clients.md has no row for %s", f.Name)
			}
		}
		if got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
	for n := range int64(100) { // the float64 of one ID is a neighbour, which may be requested on purpose
		id := store{difficult: true}.shown(n)
		if slices.Contains(roundings(id), fmt.Sprint(id+1)) || slices.Contains(roundings(id), fmt.Sprint(id-1)) {
			t.Errorf("a neighbour of %d is a rounded form of it", id)
		}
	}
}

// A finding has no API key and no control characters.
func TestFinding(t *testing.T) {
	own := step{request: "GET /pets?page= " + Key + " \n\x1b[2J" + strings.Repeat("é", 1000)}
	f := after(t, []step{own, own}).Findings
	text := fmt.Sprint(f)
	if len(f) != 1 || !strings.HasPrefix(text, "[own-cursor (2): the client sent the query parameter \"page\"") ||
		!strings.Contains(text, `GET /v1/pets?page= [key] \n\x1b[2Jé`) || strings.Contains(text, Key) || len(text) > 1000 {
		t.Errorf("the text is %s", text)
	}
}

type recorder struct {
	testing.TB
	errors  []any
	cleanup func()
}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, args...) }
func (r *recorder) Cleanup(f func())  { r.cleanup = f }

// A mistake is an error of the test. A response to HEAD has the length of one to GET.
func TestNew(t *testing.T) {
	r := &recorder{TB: t}
	if resp, err := http.Head(New(r, nil).URL + "/pets?page=2"); err != nil || resp.StatusCode != 401 || resp.ContentLength < 99 {
		t.Error(resp, err)
	}
	if r.cleanup(); len(r.errors) != 1 {
		t.Errorf("the errors are %v", r.errors)
	}
}
