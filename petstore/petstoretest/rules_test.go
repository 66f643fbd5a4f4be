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
	request string        // "POST /pets", and the body
	key     string        // the Idempotency-Key
	status  int           // 429 asks the client to wait
	after   time.Duration // how much later it begins; negative: before the one before it ended
	account string
}

// Instead of the status, if the connection was cut.
const (
	lost    = 0  // after the request was carried out
	dropped = -1 // before that
)

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
		request := strings.SplitN(s.request+" ", " ", 3)
		path, query, _ := strings.Cut(request[1], "?")
		x := &exchange{
			server: d, began: ended.Add(time.Millisecond + s.after),
			method: request[0], target: request[1], path: path, query: query, body: []byte(request[2]),
			sent: http.Header{"Authorization": {s.account}, "Idempotency-Key": {s.key}},
			done: s.status == lost || s.status/100 == 2, status: s.status, cut: s.status <= 0,
		}
		d.see(x)
		if s.status == 429 {
			d.busy = x
		}
		ended = x.began.Add(time.Millisecond)
		x.ended = ended
	}
	return &Server{difficult: d}
}

func TestRules(t *testing.T) {
	get := func(target string, status int) step { return step{request: "GET " + target, status: status} }
	create := func(key string, status int) step { return step{request: "POST /pets Rex", key: key, status: status} }
	cursor := string(petstore.CursorAfter(7))
	for _, tt := range []struct {
		name  string
		want  string // names of the findings
		steps []step
	}{
		{"no key", "repeated-without-key", []step{create("", lost), create("", 201)}},
		{"another key", "repeated-without-key", []step{create("a", lost), create("b", 201)}},
		{"a message", "repeated-without-key", []step{{request: "POST /messages hi", status: lost}, {request: "POST /messages hi", status: 202}}},
		{"the same key", "", []step{create("a", lost), create("a", 201)}},
		{"the same key, and later an equal pet", "", []step{create("a", lost), create("a", 201), create("b", 201)}},
		{"not carried out the first time", "", []step{create("", dropped), create("", 201)}},
		{"not carried out the second time", "", []step{create("", lost), create("", 503)}},
		{"of another account", "", []step{create("", lost), {request: "POST /pets Rex", status: 201, account: "another"}}},
		{"at the same time", "", []step{create("", lost), {request: "POST /pets Rex", status: 201, after: -2 * time.Millisecond}}},
		{"an equal pet, none lost", "", []step{create("", 201), create("", 201)}},
		{"of another pet", "", []step{create("", lost), {request: "POST /pets Max", status: 201}}},

		{"at once", "ignored-retry-after", []step{create("", 429), create("", 201)}},
		{"the same key of another process", "", []step{create("a", 429), {request: "POST /pets Max", key: "a", status: 201}}},
		{"in time", "", []step{create("", 429), {request: "POST /pets Rex", status: 201, after: time.Second}}},
		{"another key", "", []step{create("a", 429), create("b", 201)}},
		{"under way already", "", []step{create("", 429), {request: "POST /pets Rex", status: 201, after: -2 * time.Millisecond}}},

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
	f := watch(t,
		step{request: "POST /pets Rex", key: "a", status: lost}, step{request: "POST /pets Rex", key: "b", status: 201},
		step{request: "POST /pets Max", key: "c", status: lost}, step{request: "POST /pets Max", key: "d", status: 201},
	).Summary().Findings
	if len(f) != 1 {
		t.Fatalf("found %v", f)
	}
	const want = `repeated-without-key: the client repeated POST /pets after its response was lost, with the Idempotency-Key "b" and not "a" as before, so the server may carry it out twice (the first of 2).
` + "`" + `POST /pets Rex` + "`" + `
Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.`
	if diff := cmp.Diff(want, f[0].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f = watch(t, step{request: "GET /pets?page=" + theKey + " \n\x1b[2J" + strings.Repeat("é", 1000)}).Summary().Findings
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
