package petstoretest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
)

// step is a request of a client and its response, as a row of a table. The rules depend on
// times, so each step begins a millisecond after the one before it ended, and lasts one.
type step struct {
	request string        // "POST /pets", and the body
	key     string        // the Idempotency-Key
	status  int           // 429 asks the client to wait
	after   time.Duration // how much later it begins; negative: before the one before it ended
	account string
	next    string // the Link of the response
}

// The status of a step whose connection was cut.
const (
	lost    = 0  // after the request was carried out
	dropped = -1 // before that
)

const rex = "POST /pets Rex"

// handlerAfter returns a handler that has seen the steps, and has pet 1.
func handlerAfter(t *testing.T, steps ...step) *Handler {
	t.Helper()
	h, err := NewHandler(&Difficulty{Names: []string{"ids"}})
	if err != nil {
		t.Fatal(err)
	}
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
			done:    s.status == lost || s.status/100 == 2,
			status:  max(s.status, 0),
			cut:     s.status <= 0,
		}
		x.request.Header = http.Header{"Authorization": {s.account}, "Idempotency-Key": {s.key}}
		switch {
		case s.status <= 0:
			x.failure = "lost"
		case s.status == 429:
			x.failure = "busy"
		case s.next != "":
			x.header = http.Header{"Link": {s.next}}
		}
		h.see(x)
		if s.status == 429 {
			h.mustWait = x
		}
		ended = x.began.Add(time.Millisecond)
		x.ended = ended
	}
	return h
}

func TestRules(t *testing.T) {
	cursor := string(petstore.CursorAfter(7))
	for _, tt := range []struct {
		name  string
		want  string // names of the findings
		steps []step
	}{
		{"no key", "repeated-without-key", []step{{request: rex, status: lost}, {request: rex, status: 201}}},
		{"another key", "repeated-without-key", []step{{request: rex, key: "a", status: lost}, {request: rex, key: "b", status: 201}}},
		{"a message", "repeated-without-key", []step{{request: "POST /messages hi", status: lost}, {request: "POST /messages hi", status: 202}}},
		{"the same key", "", []step{{request: rex, key: "a", status: lost}, {request: rex, key: "a", status: 201}}},
		{"the same key, and later an equal pet", "", []step{{request: rex, key: "a", status: lost}, {request: rex, key: "a", status: 201}, {request: rex, key: "b", status: 201}}},
		{"not carried out the first time", "", []step{{request: rex, status: dropped}, {request: rex, status: 201}}},
		{"not carried out the second time", "", []step{{request: rex, status: lost}, {request: rex, status: 503}}},
		{"of another account", "", []step{{request: rex, status: lost}, {request: rex, status: 201, account: "another"}}},
		{"at the same time", "", []step{{request: rex, status: lost}, {request: rex, status: 201, after: -2 * time.Millisecond}}},
		{"an equal pet, none lost", "", []step{{request: rex, status: 201}, {request: rex, status: 201}}},
		{"of another pet", "", []step{{request: rex, status: lost}, {request: "POST /pets Max", status: 201}}},

		{"at once", "ignored-retry-after", []step{{request: rex, status: 429}, {request: rex, status: 201}}},
		{"the same key of another process", "", []step{{request: rex, key: "a", status: 429}, {request: "POST /pets Max", key: "a", status: 201}}},
		{"in time", "", []step{{request: rex, status: 429}, {request: rex, status: 201, after: time.Second}}},
		{"another key", "", []step{{request: rex, key: "a", status: 429}, {request: rex, key: "b", status: 201}}},
		{"under way already", "", []step{{request: rex, status: 429}, {request: rex, status: 201, after: -2 * time.Millisecond}}},

		{"page", "own-cursor", []step{{request: "GET /pets?page=2", status: 200}}},
		{"start_after", "own-cursor", []step{{request: "GET /pets?start_after=7", status: 200}}},
		{"the cursor of a link", "", []step{{request: "GET /pets?limit=20&status=sold&cursor=" + cursor, status: 200}}},
		{"parameters of a proxy", "", []step{{request: "GET /pets?_=1234&utm_source=x&per_page=20", status: 200}}},

		// Pet 1 is shown with the ID -7046029254386353131.
		{"float64", "rounded-id", []step{{request: "GET /pets/-7046029254386353152", status: 404}}},
		{"float64 of JavaScript", "rounded-id", []step{{request: "GET /pets/-7046029254386353000", status: 404}}},
		{"int32", "rounded-id", []step{{request: "GET /pets/2135587861", status: 404}}},
		{"exact", "", []step{{request: "GET /pets/-7046029254386353131", status: 200}}},
		{"a neighbour", "", []step{{request: "GET /pets/-7046029254386353130", status: 404}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, f := range handlerAfter(t, tt.steps...).Summary().Findings {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The counts say which failures were repeated, and which links were followed.
func TestCounts(t *testing.T) {
	page := step{request: "GET /pets?limit=2", status: 200, next: `<?limit=2&cursor=a%2B>; rel="next"`}
	for _, tt := range []struct {
		name  string
		want  Summary
		steps []step
	}{
		{"one read of two is repeated", Summary{RepeatableFailures: 2, RepeatedFailures: 1}, []step{{request: "GET /pets", status: 429}, {request: "GET /pets/1", status: dropped}, {request: "GET /pets", status: 200}, {request: "GET /pets", status: 200}}},
		{"a read that is repeated twice", Summary{RepeatableFailures: 2, RepeatedFailures: 2}, []step{{request: "GET /pets", status: 429}, {request: "GET /pets", status: 429}, {request: "GET /pets", status: 200}}},
		{"a read that was under way", Summary{RepeatableFailures: 1}, []step{{request: "GET /pets", status: 429}, {request: "GET /pets", status: 200, after: -2 * time.Millisecond}}},
		{"a creation without a key", Summary{LostWithoutKey: 1}, []step{{request: rex, status: lost}}},
		{"a creation with a key", Summary{RepeatableFailures: 1, RepeatedFailures: 1}, []step{{request: rex, key: "a", status: lost}, {request: rex, key: "a", status: 201}}},
		{"a creation that was refused", Summary{RepeatableFailures: 1}, []step{{request: rex, status: 429}, {request: "POST /pets Max", status: 201}}},
		{"a link that is not followed", Summary{Links: 1}, []step{page, page, {request: "GET /pets?limit=2", status: 200}}},
		{"a link that is followed", Summary{Links: 1, Followed: 1}, []step{page, {request: "GET /pets?limit=2&cursor=a%2B", status: 200}, page}},
		{"a link in a lost response", Summary{RepeatableFailures: 1}, []step{{request: "GET /pets?limit=2", status: lost, next: page.next}}},
		{"a link to another thing", Summary{}, []step{{request: "GET /pets/1", status: 200, next: `<../pets>; rel="successor-version"`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := handlerAfter(t, tt.steps...).Summary()
			got := Summary{RepeatableFailures: s.RepeatableFailures, RepeatedFailures: s.RepeatedFailures, LostWithoutKey: s.LostWithoutKey, Links: s.Links, Followed: s.Followed}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinding(t *testing.T) {
	f := handlerAfter(t,
		step{request: rex, key: "a", status: lost}, step{request: rex, key: "b", status: 201},
		step{request: "POST /pets Max", key: "c", status: lost}, step{request: "POST /pets Max", key: "d", status: 201},
	).Summary().Findings
	if len(f) != 1 {
		t.Fatalf("found %v", f)
	}
	const want = `repeated-without-key: the client repeated POST /pets after its response was lost, with the Idempotency-Key "b" and not "a" as before, so the server carried it out twice (the first of 2).
` + "`" + `POST /v1/pets Rex` + "`" + `
Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.`
	if diff := cmp.Diff(want, f[0].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f = handlerAfter(t, step{request: "GET /pets?page= " + Key + " \n\x1b[2J" + strings.Repeat("é", 1000)}).Summary().Findings
	text := fmt.Sprint(f)
	if !strings.Contains(text, `"GET /v1/pets?page= [key] \n\x1b[2Jé`) || strings.Contains(text, Key) || len(text) > 1500 {
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
	for _, name := range difficulties {
		want = append(want, fmt.Sprintf("| `%s` |", name))
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
