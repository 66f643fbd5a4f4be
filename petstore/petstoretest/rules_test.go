package petstoretest

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
)

const theKey = "the-key-of-the-test"

// The tests of the rules describe what a client does as steps, since it matters which
// request begins before which response ended. A step is a request and its response. It
// begins a millisecond after the one before it ended.
type step struct {
	request string // "POST /pets"
	body    string
	key     string        // the Idempotency-Key
	status  int           // 0: the connection was cut, after the request was carried out if it created something
	created string        // the ID
	wait    bool          // the response has Retry-After: 1
	user    string        // the Authorization; "": with the key
	after   time.Duration // how much later it begins; negative: before the one before it ended
}

// watch returns a server that has seen the steps, and has shown the ID of pet 1.
func watch(t *testing.T, steps ...step) *Server {
	t.Helper()
	d, err := newDifficult(Options{Prefix: "/v1", Key: theKey, Difficult: &Difficulty{Names: []string{"ids"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.shown.Store(shownID(1), true)
	ended := time.Now()
	for _, s := range steps {
		method, target, _ := strings.Cut(s.request, " ")
		path, query, _ := strings.Cut(target, "?")
		x := &exchange{
			server: d, began: ended.Add(time.Millisecond + s.after),
			method: method, target: target, path: path, query: query, body: []byte(s.body), sent: http.Header{"Authorization": {"Bearer " + theKey}},
			done: s.created != "" || s.status > 0 && s.status < 400, created: s.created, status: s.status, cut: s.status == 0,
			header: http.Header{},
		}
		if s.user != "" {
			x.sent.Set("Authorization", s.user)
		}
		if s.key != "" {
			x.sent.Set("Idempotency-Key", s.key)
		}
		d.see(x)
		if s.wait {
			d.busy = x
		}
		ended = x.began.Add(time.Millisecond)
		x.ended = ended
	}
	return &Server{difficult: d}
}

const rex = `{"name":"Rex","categoryId":1}`

func TestRules(t *testing.T) {
	get := func(target string, status int) step { return step{request: "GET " + target, status: status} }
	made := step{request: "POST /pets", body: rex, status: 201, created: "2"}
	with := func(s step, change func(*step)) step { change(&s); return s }
	again := with(made, func(s *step) { s.created = "3" })
	lost := with(made, func(s *step) { s.status = 0 })
	keyed := func(s step, key string) step { s.key = key; return s }
	busy := step{request: "POST /pets", body: rex, status: 429, wait: true}
	message := step{request: "POST /messages", body: `{"message":"hi"}`, created: `"m1"`}
	cursor := string(petstore.CursorAfter(7))
	for _, tt := range []struct {
		name  string
		want  string // names of the findings
		steps []step
	}{
		{"no key", "repeated-without-key", []step{lost, again}},
		{"another key", "repeated-without-key", []step{keyed(lost, "a"), keyed(again, "b")}},
		{"a message", "repeated-without-key", []step{message, with(message, func(s *step) { s.status, s.created = 202, `"m2"` })}},
		{"the same key", "", []step{keyed(lost, "a"), keyed(made, "a")}},
		{"the same key, and later an equal pet", "", []step{keyed(lost, "a"), keyed(made, "a"), keyed(again, "b")}},
		{"not carried out the first time", "", []step{with(lost, func(s *step) { s.created = "" }), made}},
		{"not carried out the second time", "", []step{lost, with(made, func(s *step) { s.status, s.created = 503, "" })}},
		{"of another account", "", []step{lost, with(again, func(s *step) { s.user = "Bearer another" })}},
		{"at the same time", "", []step{lost, with(again, func(s *step) { s.after = -2 * time.Millisecond })}},
		{"with its members in another order", "repeated-without-key", []step{lost, with(again, func(s *step) { s.body = "{ \"categoryId\":1, \"name\":\"Rex\"}" })}},
		{"an equal pet, none lost", "", []step{made, again}},
		{"a category that a float64 confuses", "", []step{
			with(lost, func(s *step) { s.body = `{"name":"Rex","categoryId":4611686018427387907}` }),
			with(again, func(s *step) { s.body = `{"name":"Rex","categoryId":4611686018427387908}` }),
		}},
		{"the same key, ignored by the store", "", []step{keyed(lost, "a"), keyed(again, "a")}},

		{"at once", "ignored-retry-after", []step{busy, made}},
		{"the same key of another process", "", []step{keyed(busy, "a"), with(keyed(made, "a"), func(s *step) { s.body = "other" })}},
		{"in time", "", []step{busy, with(made, func(s *step) { s.after = time.Second })}},
		{"another key", "", []step{keyed(busy, "a"), keyed(made, "b")}},
		{"under way already", "", []step{busy, with(made, func(s *step) { s.after = -2 * time.Millisecond })}},
		{"no time to wait", "", []step{with(busy, func(s *step) { s.wait = false }), made}},

		{"page", "own-cursor", []step{get("/pets?page=2", 200)}},
		{"start_after", "own-cursor", []step{get("/pets?start_after=7", 200)}},
		{"the cursor of a link", "", []step{get("/pets?limit=20&status=sold&cursor="+cursor, 200)}},
		{"parameters of a proxy", "", []step{get("/pets?_=1234&utm_source=x&per_page=20", 200)}},

		{"float64", "rounded-id", []step{get("/pets/-7046029254386353152", 404)}},
		{"float64 of JavaScript", "rounded-id", []step{get("/pets/-7046029254386353000", 404)}},
		{"int32", "rounded-id", []step{get("/pets/2135587861", 404)}},
		{"exact", "", []step{get("/pets/-7046029254386353131", 200)}},
		{"a neighbour", "", []step{get("/pets/-7046029254386353130", 404)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, f := range watch(t, tt.steps...).Summary().Findings {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFinding(t *testing.T) {
	step1 := step{request: "POST /pets", body: rex, created: "2", key: "a"}
	step2 := step{request: "POST /pets", body: rex, status: 201, created: "3", key: "b"}
	other1, other2 := step1, step2
	other1.body, other2.body = "other", "other"
	f := watch(t, step1, step2, other1, other2).Summary().Findings
	if len(f) != 1 {
		t.Fatalf("found %v", f)
	}
	const want = `repeated-without-key: the client repeated POST /pets after a lost response, without the Idempotency-Key of the first request, "a", so the server carried it out twice (the first of 2).
` + "`" + `POST /pets {"name":"Rex","categoryId":1}` + "`" + `
Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.`
	if diff := cmp.Diff(want, f[0].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f = watch(t, step{request: "GET /pets?page=" + theKey, body: "\n\x1b[2J" + strings.Repeat("é", 1000)}).Summary().Findings
	if text := fmt.Sprint(f); !strings.Contains(text, `"GET /pets?page=[key] \n\x1b[2Jé`) || strings.Contains(text, theKey) || len(text) > 1500 {
		t.Errorf("the text is %s", text)
	}
}

// The tables of docs/clients.md have a row for every difficulty and every rule, and no other.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, d := range difficulties() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", d.name, d.about))
	}
	for _, r := range rules {
		want = append(want, fmt.Sprintf("| `%s` |", r.name))
	}
	rows := regexp.MustCompile("(?m)^\\| `.*").FindAllString(string(page), -1)
	if len(rows) != len(want) {
		t.Fatalf("docs/clients.md has %d rows, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if !strings.HasPrefix(row, want[i]) {
			t.Errorf("docs/clients.md has the row\n%s\nwant\n%s ...", row, want[i])
		}
	}
}
