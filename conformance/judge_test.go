package conformance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// story builds the history of a run, one exchange after the other, a tenth of a second
// apart.
type story struct {
	facts
	now       time.Time
	exchanges []*probe.Exchange
}

const mark = "Confabcdef"

func newStory() *story {
	began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	return &story{facts: newFacts(mark, "http://127.0.0.1/v1", began), now: began}
}

// tell adds an exchange whose response has a body.
func (s *story) tell(r probe.Request, status int, body string) *probe.Exchange {
	x := &probe.Exchange{
		Request: r, URL: s.url + r.Path, Status: status, Body: []byte(body), Attempts: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Sent:   s.now, Received: s.now.Add(10 * time.Millisecond),
	}
	s.now = s.now.Add(100 * time.Millisecond)
	s.exchanges = append(s.exchanges, x)
	return x
}

// add adds a pet with the id, and list requests a list with the pets.
func (s *story) add(name, id string) *probe.Exchange {
	return s.tell(addPet(newPet{mark + name, 500000000, "sold"}, meaning{}), 201, stored(name, id))
}

func (s *story) list(query string, pets ...string) *probe.Exchange {
	return s.tell(probe.Get("/pets"+query), 200, "["+strings.Join(pets, ",")+"]")
}

func stored(name, id string) string {
	return `{"id":` + id + `,"name":"` + mark + name + `","categoryId":500000000,"status":"sold"}`
}

// Each judge sees what is wrong in a history, and nothing in one that is right.
func TestJudges(t *testing.T) {
	const all = "?limit=100"
	const rex, tom = `{"id":8,"name":"Rex","categoryId":1}`, `{"id":9,"name":"Tom","categoryId":1}`
	lists := func(s *story, n int, pets ...string) {
		for range n {
			s.list(all, pets...)
		}
	}
	later := func(s *story) { s.now = s.now.Add(3 * time.Second) }
	for _, tt := range []struct {
		name string
		tell func(*story)
		want string // the check that fails, and its message; "": none does
	}{
		{"no list is longer than this one: it may be the target's limit", func(s *story) {
			s.add("aaa", "1")
			s.add("aab", "2")
			later(s)
			lists(s, 3, stored("aaa", "1"))
		}, ""},
		{"a longer list may have ended early at random", func(s *story) {
			s.add("aaa", "1")
			later(s)
			s.list(all, rex, tom)
			lists(s, 3, rex)
		}, ""},
		{"a list has other pets each time", func(s *story) {
			s.add("aaa", "1")
			s.list("", rex, tom)
			later(s)
			s.list(all, stored("aaa", "1"))
			lists(s, 3, rex)
		}, ""},
		{"others have removed pets since the list with limit=20", func(s *story) {
			var pets []string
			for i := range 20 {
				pets = append(pets, fmt.Sprintf(`{"id":%d,"name":"Tom","categoryId":1}`, 20+i))
			}
			s.list("?limit=20", pets...)
			s.list("", rex)
			s.list("?limit=20", rex)
		}, ""},
		{"lists vary, and none has a pet", func(s *story) {
			s.add("aaa", "1")
			s.list("", stored("aaa", "1"), rex, tom)
			later(s)
			lists(s, 2, rex, tom)
			s.list(all, rex)
			s.list(all, rex, tom)
		}, ""},
		{"a pet gets the id of one that was there before", func(s *story) {
			s.list(all, rex)
			s.add("aaa", "8")
		}, "pets.create.id.unique: a pet that GET /pets?limit=100 showed before has the id 8\npets.list.same: the list does not show the pet as it was added: the name is \"Rex\", want \"Confabcdefaaa\""},
		{"a request that was sent twice adds two pets", func(s *story) {
			s.add("aaa", "1").Status = 0
			s.add("aaa", "2")
			s.list(all, stored("aaa", "1"), stored("aaa", "2"))
		}, ""},
		{"a category is out of range", func(s *story) {
			s.tell(addPet(newPet{mark + "aaa", 1<<63 - 1, "sold"}, meaning{}), 201, `{"id":1,"name":"`+mark+`aaa","categoryId":9223372036854776000,"status":"sold"}`)
		}, "pets.create.pet: the body is not a Pet: categoryId: 9223372036854776000 does not fit in an int64\npets.create.category: the response does not show the pet as it was sent: categoryId is 9223372036854776000, want 9223372036854775807"},
		{"a pet gets 404 before its creation has a response", func(s *story) {
			x := s.tell(probe.Get("/pets/1"), 404, `{"code":"a","message":"b","status":404}`)
			s.add("aaa", "1")
			x.Received = s.now
		}, ""},
		{"a listed pet gets 404", func(s *story) {
			s.list(all, stored("aaa", "1"))
			s.tell(probe.Get("/pets/1"), 404, `{"code":"a","message":"b","status":404}`)
		}, "pets.get.status: the pet is in the store: the response is 404 Not Found, want 200 OK"},
		{"two responses are cut short", func(s *story) {
			s.add("aaa", "1")
			for range 2 {
				x := s.list(all)
				x.Cut, x.Status, x.Err, x.Repeated = true, 0, io.ErrUnexpectedEOF, true
			}
		}, ""},
		{"a request gets no response three times, and no other does", func(s *story) {
			x := s.list(all)
			x.Status, x.Err, x.Attempts = 0, io.EOF, 3
		}, ""},
		{"an unusual name of a category that the target does not know gets 400", func(s *story) {
			s.tell(addPet(newPet{"<b> abcdef", 1, ""}, meaning{what: "markup", arguable: "pets.create.name.accepted"}), 400, `{"code":"a","message":"b","status":400}`)
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStory()
			tt.tell(s)
			var failed []string
			var exchanges []*exchange
			for _, p := range s.exchanges {
				exchanges = append(exchanges, s.read(p))
			}
			h := newHistory(s.facts, exchanges)
			for _, c := range Checks() {
				if violations := h.judge(c).violations; len(violations) > 0 && !unrelated(c.ID) {
					text, _, _ := strings.Cut(violations[0].text, "\n") // without the elements of the list
					failed = append(failed, c.ID+": "+text)
				}
			}
			if got := strings.Join(failed, "\n"); got != tt.want {
				t.Errorf("these checks fail:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// unrelated reports whether a check is about what the stories do not tell.
func unrelated(id string) bool {
	return id == "http.location" || id == "pets.list.limit.full" || strings.HasPrefix(id, "deprecation.")
}

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-23T10:20:00Z": "RFC 3339", "2026-11-23t10:20:00.000z": "RFC 3339", "2026-11-23T10:20:00+00:00": "RFC 3339",
		"20261123T102000Z": "other form", "2026-W48-1T10:20Z": "other form", "2026W481T1020Z": "other form", "2026-327T10:20:00+00:00": "other form",
		"2026-11-23T10:20:00+0000": "other form", "2026-11-23T10:20:00.5+00": "other form", "2026-11-23T10:20:00,5Z": "RFC 3339", "+002026-11-23T10:20Z": "other form",
		"2026-11-23T10:20:00": "", "2026-11-23T10:20:00+02:00": "", "2026-11-23 10:20:00Z": "", "Mon, 23 Nov 2026 10:20:00 GMT": "", "1795132800": "", "": "",
	} {
		got := ""
		if _, err := parseTimestamp(text); err == nil {
			got = "RFC 3339"
		} else if otherForm.MatchString(text) {
			got = "other form"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
