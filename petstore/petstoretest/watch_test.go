package petstoretest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// step is an exchange of a test. It begins a millisecond after the one before it
// ended, and takes a millisecond.
type step struct {
	request string // "POST /pets"
	body    string
	status  int    // 0: no response
	resp    string // the body of the response

	key    string // the Idempotency-Key
	retry  string // Retry-After
	link   string
	conn   string // the connection; "": the one of all steps, "-": of HTTP/2
	user   string // the API key; "": key-1
	met    []string
	header http.Header // further fields of the request

	after float64 // it begins so many seconds after the one before it ended; -1 for before it began
	took  float64 // seconds
	other bool
}

func watch(steps []step) *watcher {
	w := newWatcher(allDifficulties, "key-1", "key-2")
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	seconds := func(f, otherwise float64) time.Duration {
		if f == 0 {
			f = otherwise
		}
		return time.Duration(f * float64(time.Second))
	}
	for i, s := range steps {
		method, target, _ := strings.Cut(s.request, " ")
		path, query, _ := strings.Cut(target, "?")
		x := &exchange{
			number: i + 1, client: s.conn, other: s.other, method: method, path: path, query: query, body: []byte(s.body),
			done: s.status < 400 && !slices.Contains(s.met, "lost-request"), status: s.status, response: []byte(s.resp), header: http.Header{}, sent: s.header.Clone(), met: s.met,
		}
		if x.sent == nil {
			x.sent = http.Header{}
		}
		set := func(h http.Header, name, value, otherwise string) {
			if value == "" {
				value = otherwise
			}
			if value != "" && h.Get(name) == "" {
				h.Set(name, value)
			}
		}
		switch x.client {
		case "":
			x.client = "127.0.0.1:1"
		case "-":
			x.client = ""
		}
		if !s.other {
			set(x.sent, "Authorization", s.user, "Bearer key-1")
		}
		set(x.sent, "Idempotency-Key", s.key, "")
		set(x.header, "Retry-After", s.retry, "")
		set(x.header, "Link", s.link, "")
		x.began = now.Add(seconds(s.after, 0.001))
		x.ended = x.began.Add(seconds(s.took, 0.001))
		if x.ended.After(now) {
			now = x.ended
		}
		w.see(x)
	}
	return w
}

const (
	rex    = `{"name":"Rex","categoryId":1}`
	rex7   = `{"id":7,"name":"Rex","categoryId":1}`
	beyond = `{"id":1234567890123456789,"name":"Rex","categoryId":1}` // 1234567890123456768 as a float64
)

var (
	lost       = step{request: "POST /pets", body: rex}
	lostKeyed  = step{request: "POST /pets", body: rex, key: "a"}
	made       = step{request: "POST /pets", body: rex, status: 201, resp: rex7}
	refused    = step{request: "GET /pets", status: 429, retry: "1"}
	listed     = step{request: "GET /pets", status: 200, resp: `[` + rex7 + `]`}
	empty      = step{request: "GET /pets", status: 200, resp: `[]`}
	withLink   = step{request: "GET /pets", status: 200, resp: `[` + rex7 + `]`, link: `</v1/pets?limit=20&cursor=a%2Bb>; rel="next"`}
	overlapped = step{request: "GET /pets?limit=5", status: 200, resp: `[]`, after: -0.5, took: 0.5}
)

// with returns s after a change.
func (s step) with(change func(*step)) step {
	change(&s)
	return s
}

func (s step) keyed(key string) step     { return s.with(func(s *step) { s.key = key }) }
func (s step) later(t float64) step      { return s.with(func(s *step) { s.after = t }) }
func (s step) on(conn string) step       { return s.with(func(s *step) { s.conn = conn }) }
func (s step) of(user string) step       { return s.with(func(s *step) { s.user = "Bearer " + user }) }
func (s step) sent(body string) step     { return s.with(func(s *step) { s.body = body }) }
func (s step) met1(name string) step     { return s.with(func(s *step) { s.met = []string{name} }) }
func (s step) got(status int) step       { return s.with(func(s *step) { s.status = status }) }
func (s step) asked(request string) step { return s.with(func(s *step) { s.request = request }) }

func get(path string, status int) step { return step{request: "GET " + path, status: status} }

// three are creations of a client that creates different things.
var three = []step{made.sent("a"), made.sent("b"), made.sent("c")}

func after(first []step, then ...step) []step { return slices.Concat(first, then) }

func TestRules(t *testing.T) {
	message := step{request: "POST /messages", body: `{"message":"hello"}`}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // names of the findings, with a ? if it is doubtful
	}{
		// A client that repeats creations.
		{"no key", after(three, lost, made), "repeated-without-key"},
		{"no key, after another lost response", after(three, lost, lost, made), "repeated-without-key"},
		{"a message without a key", after(three, message, message.got(202)), "repeated-without-key"},
		{"another key at each attempt", after(three, lostKeyed, made.keyed("b")), "repeated-without-key"},
		{"a client with keys, and one without", after(three, lost, lostKeyed, made), "repeated-without-key?"},
		{"a client without keys, and one with", after(three, lost, made.keyed("a")), ""},
		{"several, of many goroutines", after(three, overlapped, lost, lost.sent("2"), made, made.sent("2")), "repeated-without-key"},
		{"one, of many goroutines", after(three, overlapped, lost, made), "repeated-without-key?"},
		{"nothing else", []step{lost, made}, "repeated-without-key?"},
		{"two tests with equal pets, the first failed", after(three, lost, empty, made), "repeated-without-key?"},
		{"two tests with equal pets, all failed", after(three, lost, lost.sent("2"), made), "repeated-without-key?"},
		{"two goroutines with equal pets, those of one failed", []step{lost, made, lost.sent("2"), made.sent("2")}, "repeated-without-key?"},
		{"two goroutines with equal pets, some failed", after(three, overlapped, lost, made, made.sent("2"), made.sent("2"), lost.sent("3"), made.sent("3")), "repeated-without-key?"},
		{"two, of a client that repeats few lost creations", after(three, lost, made, lost.sent("2"), made.sent("2"), lost.sent("3"), lost.sent("4")), "repeated-without-key?"},
		{"after a list that lacks the pet", after(three, lost.met1("lost-request"), empty, made, lost.sent("2").met1("lost-request"), empty, made.sent("2")), ""},
		{"after a list, though the pet is stored", after(three, lost, empty, made, lost.sent("2"), empty, made.sent("2")), "repeated-without-key"},
		{"the same key", after(three, lostKeyed, made.keyed("a")), ""},
		{"the same key twice", after(three, lostKeyed, lostKeyed, made.keyed("a")), ""},
		{"the same key, after an equal pet of another goroutine", after(three, lostKeyed, made.keyed("b"), made.keyed("a")), ""},
		{"not repeated", after(three, lost, empty), ""},
		{"other pets", after(three, lost, made.sent("2")), ""},
		{"equal pets on purpose, not repeated", after(three, made, lost, made, made), ""},
		{"two equal pets after a lost one", after(three, lost, made, made), ""},
		{"equal pets at the same time", after(three, lost, made.with(func(s *step) { s.after = -0.0005 })), ""},
		{"equal pets of two accounts", after(three, lost, made.of("key-2")), ""},
		{"equal pets, of a client that gives up at its deadline but repeats keys",
			after(three, lostKeyed.sent("1"), made.keyed("a").sent("1"), lostKeyed.keyed("b"), made.keyed("c")), ""},
		{"repeated after 503", after(three, lost.got(503), made), ""},
		{"repeated after 429", after(three, lost.got(429), made), ""},
		{"repeated and refused", after(three, lost, made.got(429)), ""},
		{"a message and a pet", after(three, message, made), ""},
		{"a list", []step{get("/pets", 0), listed}, ""},

		// A client that repeats too early.
		{"at once", after(three, refused, empty), "ignored-retry-after"},
		{"at once, after 503", after(three, refused.got(503), empty), "ignored-retry-after"},
		{"after half the time", after(three, refused, empty.later(0.5)), "ignored-retry-after"},
		{"a creation", after(three, made.got(429).with(func(s *step) { s.retry = "2" }), made.later(1)), "ignored-retry-after"},
		{"on another connection", after(three, refused, empty.on("127.0.0.1:2")), "ignored-retry-after"},
		{"two requests", []step{refused, empty, refused.asked("GET /pets?limit=2"), get("/pets?limit=2", 200)}, "ignored-retry-after"},
		{"one request, nothing else", []step{refused, empty}, "ignored-retry-after?"},
		{"two tests, the first failed", after(three, refused, get("/pets?limit=3", 200), empty), "ignored-retry-after?"},
		{"two processes", after(three, refused, empty.on("127.0.0.1:2"), empty.later(1)), "ignored-retry-after?"},
		{"other requests waited", after(three, refused, empty.later(1), refused.asked("GET /pets?limit=2"), get("/pets?limit=2", 200)), "ignored-retry-after?"},
		{"the same key, among other requests", []step{overlapped, refused.asked("POST /pets").sent(rex).keyed("a"), overlapped, made.keyed("a")}, "ignored-retry-after"},
		{"the same key on another connection, if the client gave up on the first", []step{overlapped, refused.asked("POST /pets").sent(rex).keyed("a"), overlapped, made.keyed("a").on("127.0.0.1:2")}, ""},
		{"the same key by HTTP/2", []step{overlapped, refused.asked("POST /pets").sent(rex).keyed("a").on("-"), overlapped, made.keyed("a").on("-")}, ""},
		{"in time", after(three, refused, empty.later(1)), ""},
		{"in time by a clock that is slightly fast", after(three, refused, empty.later(0.95)), ""},
		{"in time, counted from a response that took long", after(three, refused.with(func(s *step) { s.took = 0.8 }), empty.later(0.2)), ""},
		{"0 seconds", after(three, refused.with(func(s *step) { s.retry = "0" }), empty), ""},
		{"at the date", []step{refused.with(func(s *step) { s.retry = "Fri, 20 Nov 2026 12:00:02 GMT" }), empty.later(1.01)}, ""},
		{"before the date", after(three, refused.with(func(s *step) { s.retry = "Fri, 20 Nov 2026 12:00:02 GMT" }), empty.later(0.5)), "ignored-retry-after"},
		{"a text that is no time", after(three, refused.with(func(s *step) { s.retry = "soon" }), empty), ""},
		{"without Retry-After", after(three, get("/pets", 429), empty), ""},
		{"another request", after(three, refused, get("/pets?limit=7", 200)), ""},
		{"another account", after(three, refused, empty.of("key-2")), ""},
		{"another key", after(three, refused.asked("POST /pets").sent(rex).keyed("a"), made.keyed("b")), ""},
		{"under way already", after(three, refused, empty.with(func(s *step) { s.after = -0.0005 })), ""},
		{"equal requests of another goroutine", after(three, overlapped, refused, overlapped, empty), ""},

		// A client that makes its own cursors.
		{"page", []step{get("/pets?page=2", 200)}, "own-cursor"},
		{"offset", []step{get("/pets?limit=20&offset=20", 200)}, "own-cursor"},
		{"page[after]", []step{get("/pets?page%5Bafter%5D=7", 200)}, "own-cursor"},
		{"a cursor without any link", []step{get("/pets?cursor=7", 400)}, "own-cursor"},
		{"a changed cursor", []step{withLink, get("/pets?cursor=a%2Bc", 400)}, "own-cursor"},
		{"a cursor that was unescaped", []step{withLink, get("/pets?cursor=a+b", 400)}, "own-cursor"},
		{"a parameter of a link with another value", []step{withLink.with(func(s *step) { s.link = `<?from=7>; rel="next"` }), get("/pets?from=8", 200)}, "own-cursor"},
		{"the link", []step{withLink, get("/pets?limit=20&cursor=a%2Bb", 200)}, ""},
		{"the link in another order, with another spelling and limit", []step{withLink, get("/pets?cursor=a%2bb&limit=5&status=sold", 200)}, ""},
		{"the link of another process", []step{withLink.of("key-2"), get("/pets?cursor=a%2Bb", 200)}, ""},
		{"a link of another relation", []step{withLink.with(func(s *step) { s.link = `<?p=2>; rel="next", <?p=1>; rel="first"` }), get("/pets?p=1", 200)}, ""},
		{"parameters of a proxy", []step{get("/pets?_=1234&utm_source=x&limit=3&status=sold", 200)}, ""},

		// A client that rounds.
		{"float64", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/1234567890123456768", 404)}, "rounded-integer"},
		{"float64 of JavaScript", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/1234567890123456800", 404)}, "rounded-integer"},
		{"float32", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/1234567939550609408", 404)}, "rounded-integer"},
		{"int32", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/2112454933", 404)}, "rounded-integer"},
		{"an ID of a list", []step{listed.with(func(s *step) { s.resp = "[" + beyond + "]" }), get("/pets/1234567890123456768", 404)}, "rounded-integer"},
		{"a negative ID", []step{made.with(func(s *step) { s.resp = `{"id":-1234567890123456789}` }), get("/pets/-1234567890123456800", 404)}, "rounded-integer"},
		{"beyond int64", []step{made.with(func(s *step) { s.resp = `{"id":9223372036854775500}` }), get("/pets/9223372036854776000", 404)}, "rounded-integer"},
		{"a category", []step{lostKeyed.sent(`{"name":"Rex","categoryId":1234567890123456789}`), made.keyed("a").sent(`{"name":"Rex","categoryId":1234567890123456800}`).got(422)}, "rounded-integer"},
		{"exact", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/1234567890123456789", 200)}, "deprecated-operation?"},
		{"a pet that happens to be there", []step{made.with(func(s *step) { s.resp = beyond }), get("/pets/1234567890123456768", 200)}, "deprecated-operation?"},
		{"a neighbour", []step{made.with(func(s *step) { s.resp = `{"id":9007199254740995}` }), get("/pets/9007199254740996", 404)}, "unknown-id?"},
		{"a power of two", []step{made.with(func(s *step) { s.resp = `{"id":1152921504606846999}` }), get("/pets/1152921504606846976", 404)}, "unknown-id?"},
		{"a small number", []step{made.with(func(s *step) { s.resp = `{"id":4294967396}` }), get("/pets/100", 404)}, "unknown-id?"},
		{"another category", []step{lostKeyed, made.keyed("a").sent(`{"name":"Rex","categoryId":2}`).got(422)}, "refused?"},

		// A client that sends its key wherever a link leads.
		{"the key elsewhere", []step{withLink, {request: "GET /pets?limit=20&cursor=a%2Bb", status: 401, other: true, header: http.Header{"Authorization": {"Bearer key-2"}}}}, "key-sent-elsewhere"},
		{"the key elsewhere, in another field", []step{{request: "GET /pets", status: 401, other: true, header: http.Header{"X-Api-Key": {"key-1"}}}}, "key-sent-elsewhere"},
		{"the key elsewhere, in the query", []step{{request: "GET /pets?api_key=key-1", status: 401, other: true}}, "key-sent-elsewhere"},
		{"no key elsewhere", []step{withLink, {request: "GET /pets?limit=20&cursor=a%2Bb", status: 401, other: true}}, ""},

		// A client that expects other JSON.
		{"undefined", []step{made, get("/pets/undefined", 404)}, "no-id"},
		{"object", []step{made, get("/pets/[object Object]", 404)}, "no-id"},
		{"a slash at the end", []step{made, get("/pets/", 404)}, "no-such-operation?"},
		{"a word", []step{made, get("/pets/rex", 404)}, ""},
		{"envelope", []step{made.sent(`{"pet":` + rex + `}`).got(400)}, "wrapped-body"},
		{"envelope with more", []step{made.sent(`{"type":"pet","data":` + rex + `}`).got(400)}, "wrapped-body"},
		{"array", []step{made.sent(`[` + rex + `]`).got(400)}, "wrapped-body"},
		{"string", []step{made.sent(fmt.Sprintf("%q", rex)).got(400)}, "wrapped-body"},
		{"envelope of a message", []step{message.sent(`{"data":{"message":"hello"}}`).got(400)}, "wrapped-body"},
		{"further members", []step{made.sent(`{"name":"Rex","categoryId":1,"owner":{"name":"Jo"}}`)}, ""},
		{"invalid bodies", []step{made.sent(`{"name":"Rex"}`).got(400), made.sent(`null`).got(400), made.sent(``).got(400), made.sent(`[]`).got(400), made.sent(`{"owner":{}}`).got(400)}, "refused?"},

		// What may be on purpose.
		{"created again after a list", []step{made, empty, made}, "created-again?"},
		{"created again after a list that has it", []step{made, listed, made}, ""},
		{"created again without a list", []step{empty, made, made}, ""},
		{"created again with the same key", []step{made.keyed("a"), empty, made.keyed("a")}, ""},
		{"created again, a list before it", []step{empty.later(1), made.keyed("a"), made.keyed("a")}, ""},
		{"the next ID", []step{made, get("/pets/8", 404)}, "unknown-id?"},
		{"a pet that was removed", []step{made, get("/pets/7", 404)}, ""},
		{"a pet that the test knows from the store", []step{get("/pets/8", 200)}, "deprecated-operation?"},
		{"no API key", []step{get("/pets", 401), get("/pets", 401)}, "unauthorized?"},
		{"a limit too high", []step{get("/pets?limit=1000", 400)}, "refused?"},
		{"another path", []step{get("/animals", 404)}, "no-such-operation?"},
		{"another method", []step{{request: "PUT /pets/7", status: 405}}, "no-such-operation?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, f := range watch(tt.steps).summary().Findings {
				if !f.Certain {
					f.Name += "?"
				}
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The names of rules are unique, certain rules come first, and the difficulties of
// each rule exist.
func TestRuleNames(t *testing.T) {
	var all []string
	for _, d := range Difficulties() {
		all = append(all, d.Name)
	}
	seen := map[string]bool{}
	for i, r := range rules {
		if seen[r.name] || r.right == "" || i > 0 && r.proof > rules[i-1].proof {
			t.Errorf("the rule %s exists twice, has no text, or is certain and follows one that is not", r.name)
		}
		seen[r.name] = true
		for _, name := range r.difficulties {
			if !slices.Contains(all, name) {
				t.Errorf("the rule %s names the difficulty %q, which does not exist", r.name, name)
			}
		}
	}
}

// The IDs of ids-huge have roundings that no pet has as its ID. Few roundings are
// too near the ID to prove anything.
func TestHugeIDsRounded(t *testing.T) {
	issued := map[string]bool{}
	for n := int64(1); n < 2000; n++ {
		issued[fmt.Sprint(huge(n))] = true
	}
	for n := int64(1); n < 2000; n++ {
		all := roundings(huge(n))
		if len(all) < 4 || slices.ContainsFunc(all, func(text string) bool { return issued[text] }) {
			t.Fatalf("the roundings of %d are %v", huge(n), all)
		}
	}
}

func TestHandled(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []step
		want  Met
	}{
		{"waited", []step{refused.met1("too-many-requests"), empty.later(1)}, Met{Difficulty: "too-many-requests", Times: 1, Handled: 1}},
		{"did not wait", after(three, refused.met1("unavailable").got(503), empty), Met{Difficulty: "unavailable", Times: 1, Failed: []string{"ignored-retry-after"}}},
		{"was not asked to wait", []step{refused.met1("too-many-requests").with(func(s *step) { s.retry = "0" }), empty}, Met{Difficulty: "too-many-requests", Times: 1}},
		{"was asked to wait until the past", []step{refused.met1("unavailable").got(503).with(func(s *step) { s.retry = "Fri, 20 Nov 2026 11:59:00 GMT" }), empty}, Met{Difficulty: "unavailable", Times: 1}},
		{"gave up", []step{refused.met1("unavailable").got(503)}, Met{Difficulty: "unavailable", Times: 1}},
		{"repeated with the key", []step{lostKeyed.met1("lost-response"), made.keyed("a")}, Met{Difficulty: "lost-response", Times: 1, Handled: 1}},
		{"repeated without a key", after(three, lost.met1("lost-request"), made), Met{Difficulty: "lost-request", Times: 1, Failed: []string{"repeated-without-key"}}},
		{"repeated a list", []step{get("/pets", 0).met1("lost-response"), listed}, Met{Difficulty: "lost-response", Times: 1, Handled: 1}},
		{"followed the link", []step{withLink.met1("short-pages"), get("/pets?cursor=a%2Bb&limit=20", 200)}, Met{Difficulty: "short-pages", Times: 1, Handled: 1}},
		{"asked for the exact ID", []step{listed.with(func(s *step) { s.resp = "[" + beyond + "]" }).met1("ids-huge"), get("/pets/1234567890123456789", 200)}, Met{Difficulty: "ids-huge", Times: 1, Handled: 1}},
		{"no trace", []step{listed.met1("escapes"), listed.met1("escapes")}, Met{Difficulty: "escapes", Times: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			met := slices.DeleteFunc(watch(tt.steps).summary().Met, func(m Met) bool { return m.Times == 0 })
			if diff := cmp.Diff([]Met{tt.want}, met); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinding(t *testing.T) {
	s := watch(after(three, lostKeyed, made.keyed("b"), lostKeyed.keyed("d").sent("x"), made.keyed("c").sent("x"))).summary()
	if len(s.Findings) != 1 {
		t.Fatalf("found %v", s.Findings)
	}
	const want = `repeated-without-key: the client repeated POST /pets with another Idempotency-Key after a lost response, so the server may have carried it out twice (2 times).
Send every creation with an Idempotency-Key and repeat it with the same key, or report that its outcome is unknown.

> POST /pets
> Authorization: Bearer [key]
> Idempotency-Key: a
>
> {"name":"Rex","categoryId":1}
< (the connection was cut before the end of the response)

0.001 s later:
> POST /pets
> Authorization: Bearer [key]
> Idempotency-Key: b
>
> {"name":"Rex","categoryId":1}
< 201 Created
<
< {"id":7,"name":"Rex","categoryId":1}
`
	if diff := cmp.Diff(want, s.Findings[0].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := watch([]step{get("/pets/null", 404).with(func(s *step) { s.resp = "{\r\n\tx\x1b[2J\nkey-2 " + strings.Repeat("é", 400) })}).summary().Findings[0].Proof
	if !strings.Contains(text, "\n< {\n< \tx\\x1b[2J\n< [key] é") || !strings.Contains(text, "... and 316 bytes more") {
		t.Errorf("the transcript is\n%s", text)
	}
	for _, target := range []string{"/cats\nMISTAKE", "/pets?page=1%0aMISTAKE"} {
		text := watch([]step{get(target, 404)}).summary().Findings[0].String()
		if strings.Contains(text, "\nMISTAKE") {
			t.Errorf("a request wrote a line of its own:\n%s", text)
		}
	}
}
