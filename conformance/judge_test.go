package conformance

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/conformance/internal/probe"
	"example.com/animalstore/conformance/internal/stimuli"
)

// run builds the history of a run. Each exchange begins a tenth of a second after the one
// before it.
type run struct {
	now       time.Time
	exchanges []*probe.Exchange
}

const (
	mark = "Confabcdef"
	base = "http://127.0.0.1/v1"
)

var runBegins = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// exchange adds an exchange whose response has a body.
func (r *run) exchange(req probe.Request, status int, body string) *probe.Exchange {
	x := &probe.Exchange{
		Request: req, URL: base + req.Path, Status: status, Body: []byte(body), Attempt: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Sent:   r.now, Received: r.now.Add(10 * time.Millisecond),
	}
	r.now = r.now.Add(100 * time.Millisecond)
	r.exchanges = append(r.exchanges, x)
	return x
}

// created adds the creation of a pet, which gets the ID.
func (r *run) created(name, id string) *probe.Exchange {
	n := probe.NewPet{Name: mark + name, Category: 500000000, Status: "sold"}
	return r.exchange(probe.AddPet(n, probe.Intent{}), 201, stored(name, id))
}

// listed adds a list that has the pets.
func (r *run) listed(query string, pets ...string) *probe.Exchange {
	return r.exchange(probe.Get("/pets"+query), 200, "["+strings.Join(pets, ",")+"]")
}

// wait lets time pass.
func (r *run) wait(d time.Duration) { r.now = r.now.Add(d) }

func stored(name, id string) string {
	return `{"id":` + id + `,"name":"` + mark + name + `","categoryId":500000000,"status":"sold"}`
}

// Each judge sees what is wrong in a history, and nothing in one that is right.
func TestJudges(t *testing.T) {
	const all = "?limit=100"
	const rex, tom = `{"id":8,"name":"Rex","categoryId":1}`, `{"id":9,"name":"Tom","categoryId":1}`
	const notFound = `{"code":"a","message":"b","status":404}`
	lost := func(x *probe.Exchange, attempt int) {
		x.Status, x.Err, x.Attempt, x.SentAgain = 0, io.EOF, attempt, attempt < 3
	}
	message := func(r *run, createdAt string) {
		text := fmt.Sprint(mark, r.now.Nanosecond())
		body := fmt.Sprintf(`{"id":"%d","message":%q,"status":"queued","createdAt":%q}`, r.now.UnixNano(), text, createdAt)
		r.exchange(probe.SubmitText(text, probe.Intent{}), 202, body)
	}
	for _, tt := range []struct {
		name      string
		exchanges func(*run)
		want      string // the check that fails, and its message; "": none does
	}{
		{"a list lacks a pet that was added three seconds ago", func(r *run) {
			r.listed(all)
			r.created("aaa", "1")
			r.created("aab", "2")
			r.listed(all, stored("aaa", "1"), stored("aab", "2"))
			r.wait(3 * time.Second)
			r.listed(all, stored("aaa", "1"))
		}, "pets.list.created: the list of 1 pet lacks the pet with the id 2, 3.2 s after the store had it"},
		{"a list lacks a pet that was just added", func(r *run) {
			r.listed(all)
			r.created("aaa", "1")
			r.created("aab", "2")
			r.listed(all, stored("aaa", "1"))
			r.wait(3 * time.Second)
			r.listed(all, stored("aaa", "1"), stored("aab", "2"))
		}, ""},
		{"no list is longer than this one: it may be the target's limit", func(r *run) {
			r.listed(all)
			r.created("aaa", "1")
			r.created("aab", "2")
			r.wait(3 * time.Second)
			r.listed(all, stored("aaa", "1"))
		}, ""},
		{"a list is empty, and there is a pet", func(r *run) {
			r.listed(all)
			r.created("aaa", "1")
			r.wait(3 * time.Second)
			r.listed(all)
		}, "pets.list.created: the list of 0 pets lacks the pet with the id 1, 3.1 s after the store had it"},
		{"a list lacks a pet that was there before", func(r *run) {
			r.listed(all, rex, tom)
			r.created("aaa", "1")
			r.wait(3 * time.Second)
			r.listed(all, rex, stored("aaa", "1"))
			r.listed(all, rex, tom, stored("aaa", "1"))
		}, "pets.list.created: the list of 2 pets lacks the pet with the id 9, 3.2 s after the store had it"},
		{"there may be more pets than a list has", func(r *run) {
			var pets []string
			for i := range 99 {
				pets = append(pets, fmt.Sprintf(`{"id":%d,"name":"Tom","categoryId":1}`, 20+i))
			}
			r.listed(all, pets...)
			r.created("aaa", "1")
			r.wait(3 * time.Second)
			r.listed(all, pets...)
			r.listed(all, pets[1:]...)
		}, ""},
		{"it is not known which pets were there before", func(r *run) {
			r.created("aaa", "1")
			r.listed("", rex, tom)
			r.wait(3 * time.Second)
			r.listed(all, rex)
		}, ""},
		{"a pet gets the id of one that was there before", func(r *run) {
			r.listed(all, rex)
			r.created("aaa", "8")
		}, "pets.create.id.unique: a pet that was there before has the id 8"},
		{"two pets get the same id", func(r *run) {
			r.listed(all)
			r.created("aaa", "8")
			r.created("aab", "8")
		}, "pets.create.id.unique: another pet of this run has the id 8"},
		{"a request whose response was lost adds two pets", func(r *run) {
			r.listed(all)
			lost(r.created("aaa", "1"), 1)
			r.created("aaa", "2").Attempt = 2
			r.listed(all, stored("aaa", "1"), stored("aaa", "2"))
		}, ""},
		{"a request adds two pets", func(r *run) {
			r.listed(all)
			r.created("aaa", "2")
			r.listed(all, stored("aaa", "1"), stored("aaa", "2"))
		}, "pets.create.once: the list has another pet with the name of one that was added"},
		{"a pet that was refused is in the store", func(r *run) {
			r.listed(all)
			x := r.created("aaa", "1")
			x.Status, x.Body = 403, []byte(`{"code":"a","message":"b","status":403}`)
			r.listed(all, stored("aaa", "1"))
		}, "pets.create.status: a valid pet is added: the response is 403 Forbidden, want 201 Created\n" +
			"pets.create.refused: the pet \"Confabcdefaaa\" is in the store, though its request got 403 Forbidden"},
		{"a category is out of range", func(r *run) {
			n := probe.NewPet{Name: mark + "aaa", Category: 1<<63 - 1, Status: "sold"}
			body := strings.Replace(stored("aaa", "1"), "500000000", "9223372036854776000", 1)
			r.exchange(probe.AddPet(n, probe.Intent{}), 201, body)
		}, "pets.create.pet: the body is not a Pet: categoryId: 9223372036854776000 does not fit in an int64\n" +
			"pets.create.category: the response does not show the pet as it was sent: " +
			"categoryId is 9223372036854776000, want 9223372036854775807"},
		{"a 201 shows another name, and later responses the one or the other", func(r *run) {
			r.listed(all)
			r.created("aaa", "1").Body = []byte(stored("zzz", "1"))
			r.exchange(probe.Get("/pets/1"), 200, stored("zzz", "1"))
			r.exchange(probe.Get("/pets/1"), 200, stored("aaa", "1"))
			r.listed(all, stored("zzz", "1"))
			r.listed(all, stored("aaa", "1"))
		}, "pets.create.name: the response does not show the pet as it was sent: the name is \"Confabcdefzzz\", want \"Confabcdefaaa\""},
		{"a 201 shows another name, and a later response a third one", func(r *run) {
			r.listed(all)
			r.created("aaa", "1").Body = []byte(stored("zzz", "1"))
			r.exchange(probe.Get("/pets/1"), 200, stored("yyy", "1"))
		}, "pets.create.name: the response does not show the pet as it was sent: the name is \"Confabcdefzzz\", want \"Confabcdefaaa\"\n" +
			"pets.get.created: GET /pets/{petId} does not show the pet as it was added: the name is \"Confabcdefyyy\", want \"Confabcdefaaa\""},
		{"a wrong body is accepted, and its pet is shown", func(r *run) {
			const pet = `{"id":1,"name":"Confabcdefaaa","categoryId":9223372036854775808}`
			r.listed(all)
			wrong := probe.Intent{Unusual: "2^63 for the categoryId", FailsCheck: "pets.create.400.values"}
			r.exchange(probe.Post(probe.CreatePet, pet, wrong), 201, pet)
			r.exchange(probe.Get("/pets/1"), 200, pet)
			r.listed(all, pet)
		}, "pets.create.400.values: the request has 2^63 for the categoryId: the response is 201 Created, want 400"},
		{"a 201 shows another status, and a filtered list lacks the pet", func(r *run) {
			r.listed("?limit=100&status=sold")
			r.created("aaa", "1").Body = []byte(strings.Replace(stored("aaa", "1"), "sold", "pending", 1))
			r.wait(3 * time.Second)
			r.listed("?limit=100&status=sold")
		}, "pets.create.status.kept: the response does not show the pet as it was sent: the status is \"pending\", want \"sold\""},
		{"a pet gets 404 before its creation has a response", func(r *run) {
			x := r.exchange(probe.Get("/pets/1"), 404, notFound)
			r.created("aaa", "1")
			x.Received = r.now
		}, ""},
		{"a listed pet gets 404", func(r *run) {
			r.listed(all, stored("aaa", "1"))
			r.exchange(probe.Get("/pets/1"), 404, notFound)
		}, "pets.get.status: the pet is in the store: the response is 404 Not Found, want 200 OK"},
		{"a request gets no response three times, and later ones do", func(r *run) {
			for attempt := range 3 {
				lost(r.listed(all), attempt+1)
			}
			r.listed(all)
		}, "http.response: the request was sent 3 times and got no response, while others did: EOF"},
		{"a request gets no response three times, and no other does", func(r *run) {
			for attempt := range 3 {
				lost(r.listed(all), attempt+1)
			}
		}, ""},
		{"a request gets a response when it is sent again", func(r *run) {
			lost(r.listed(all), 1)
			r.listed(all).Attempt = 2
			r.listed(all)
		}, ""},
		{"times are equal, or earlier by a second", func(r *run) {
			message(r, "2026-11-23T12:00:00Z")
			message(r, "2026-11-23T12:00:00Z")
			message(r, "2026-11-23T11:59:59Z")
		}, ""},
		{"a time is earlier by two seconds", func(r *run) {
			message(r, "2026-11-23T12:00:00Z")
			message(r, "2026-11-23T11:59:58Z")
		}, "messages.time.passes: createdAt is 2026-11-23T11:59:58Z, and that of an earlier message is 2026-11-23T12:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var failed []string
			h := historyOf(tt.exchanges)
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

// A pet that was not there before, and whose name the run did not send, is that of another
// client.
func TestOtherWriter(t *testing.T) {
	const all = "?limit=100"
	const rex, tom = `{"id":8,"name":"Rex","categoryId":1}`, `{"id":9,"name":"Tom","categoryId":1}`
	full := slices.Repeat([]string{rex}, 100)
	for _, tt := range []struct {
		name      string
		exchanges func(*run)
		want      bool
	}{
		{"a new pet", func(r *run) { r.listed(all, rex); r.created("aaa", "1"); r.listed(all, rex, tom) }, true},
		{"it was there before", func(r *run) { r.listed(all, rex, tom); r.created("aaa", "1"); r.listed(all, tom, rex) }, false},
		{"it may have been there before", func(r *run) { r.listed(all, full...); r.created("aaa", "1"); r.listed(all, tom) }, false},
		{"the run has sent the name", func(r *run) { r.listed(all); r.created("aaa", "1"); r.listed(all, stored("aaa", "2")) }, false},
		{"a response has the id", func(r *run) { r.listed(all); r.created("aaa", "1"); r.listed(all, stored("zzz", "1")) }, false},
		{"a wrong body has the name", func(r *run) {
			r.listed(all)
			r.exchange(probe.Post(probe.CreatePet, `{"name":42}`, probe.Intent{FailsCheck: "pets.create.400.values"}), 400, `{}`)
			r.listed(all, `{"id":1,"name":"42","categoryId":1}`)
		}, false},
	} {
		if x, p := historyOf(tt.exchanges).otherWriter(); (x != nil) != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, p, tt.want)
		}
	}
}

// historyOf returns the history of a run with these exchanges.
func historyOf(exchanges func(*run)) *history {
	r := &run{now: runBegins}
	exchanges(r)
	return newHistory(stimuli.Traffic{Mark: mark, Exchanges: r.exchanges}, base, runBegins)
}

// unrelated reports whether a check is about header fields, or about lists that these runs do
// not have.
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
