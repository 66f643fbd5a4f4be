package petstoretest

import (
	"bytes"
	"fmt"
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
// leads to the same. Equal requests fail at most twice.
func TestDifficulties(t *testing.T) {
	plain, _ := responses(t, nil)
	var difficult []string
	for seed := range uint64(3) {
		all, pets := responses(t, &Options{Difficult: true, Seed: seed})
		if again, _ := responses(t, &Options{Difficult: true, Seed: seed}); !slices.Equal(all, again) {
			t.Errorf("seed %d: other responses than before", seed)
		}
		difficult = append(difficult, all...)
		failed, equal, created, lost := 0, 0, 0, 0
		for i, text := range all {
			if failure.MatchString(text) {
				failed++
				equal += i % 2 // one of two
			}
			if i%4 == 0 && text == "EOF" {
				lost++
			} else if i%4 == 0 && text[:3] == "201" {
				created++
			}
		}
		if equal != 4 || failed > len(all)/3 || pets <= created || pets >= created+lost {
			t.Errorf("%d requests failed, %d of two; %d pets after %d creations and %d lost ones", failed, equal, pets, created, lost)
		}
	}
	for _, pattern := range []string{
		`\nRetry-After: 1\r`, `\nRetry-After: [A-Z][a-z]+, \r`, `^503(.*\n)+Retry-After: 0\r\n(.*\n)*.*"status": 503`, `^429(.*\n)+.*"status": 429`,
		`^EOF$`, `^20.(.*\n)+.*EOF$`,
		`"id": 4354685564936845354,(.*\n)+.*"id": -7046029254386353131,`, // the order of a list
		`\[\s+\{\s+"_links"`, `^404(.*\n)+\{\n\t"_links"`, `"categoryId": 1,\s+"id"`,
		`"code": "E-`, `^200(.*\n)+.*"msg_`, `^201(.*\n)+.*"msg_`,
	} {
		re := regexp.MustCompile(pattern)
		if in, out := slices.ContainsFunc(difficult, re.MatchString), slices.ContainsFunc(plain, re.MatchString); !in || out {
			t.Errorf("%s: in a difficult server %v, in a plain one %v", re, in, out)
		}
	}
}

var failure = regexp.MustCompile(`^(429|503)|EOF$`)

// accidental matches what differs from one run to the next.
var accidental = regexp.MustCompile(
	`X-Request-Id: .*\r\n|"createdAt":\s*"[^"]*"|\d+ [A-Z][a-z]+ \d+ [0-9:]+ GMT`)

// responses returns the responses to the same requests, and how many pets are stored.
func responses(t *testing.T, o *Options) (all []string, pets int) {
	h := NewHandler(o)
	send := func(method, target, body string) {
		r, w := httptest.NewRequest(method, "/v1"+target, strings.NewReader(body)), httptest.NewRecorder()
		r.Header = http.Header{"Authorization": {"Bearer " + Key}, "Content-Type": {"application/json"}}
		var text strings.Builder
		defer func() {
			lost := recover() != nil
			if len(w.Header()) > 0 {
				fmt.Fprintln(&text, w.Code)
				_ = w.Header().Write(&text)
				fmt.Fprint(&text, w.Body)
			}
			if lost {
				fmt.Fprint(&text, "EOF")
			}
			all = append(all, accidental.ReplaceAllString(text.String(), ""))
		}()
		h.ServeHTTP(w, r)
	}
	for i := range 50 {
		send("POST", "/pets", fmt.Sprintf(`{"name":"cat %d","categoryId":1}`, i))
		send("GET", "/pets/none", "")
		send("POST", "/messages", `{"message":"hello `+fmt.Sprint(i)+`"}`)
		send("GET", "/pets?limit=3", "")
	}
	stats, _ := h.store.Stats(t.Context())
	return all, int(stats.Pets)
}

// after returns a summary of a difficult server with pet 1, after steps such as "Rex 201 k 1s": a
// creation, its status and Idempotency-Key, and how much later it begins than a millisecond after
// the one before ended. Each lasts a millisecond. Status 0: the connection was cut after the
// request was carried out; -1: before.
func after(t *testing.T, steps string) Summary {
	h := NewHandler(&Options{Difficult: true})
	_, _ = h.store.CreatePet(t.Context(), petstore.NewPet{}, petstore.IdempotencyKey{})
	ended := time.Now()
	for step := range strings.SplitSeq(steps, ";") {
		var what, key, later string
		var status int
		_, _ = fmt.Sscan(step, &what, &status, &key, &later)
		method, path := "POST", "/v1/pets"
		if what[0] == '/' {
			method, path = "GET", "/v1"+what
		}
		wait, _ := time.ParseDuration(later)
		x := &exchange{
			request: httptest.NewRequest(method, path, nil), body: []byte(what), began: ended.Add(time.Millisecond + wait),
			failed: status <= 0 || status == 429, cut: status <= 0, done: status == 0 || status/100 == 2, status: max(status, 0),
		}
		x.request.Header.Set("Idempotency-Key", strings.Trim(key, "-"))
		if what == "/pets?limit=2" {
			x.header = http.Header{"Link": {`<?limit=2&cursor=a%2B>; rel="next"`}}
		}
		h.see(x)
		if status == 429 {
			h.mustWait = x
		}
		ended = x.began.Add(time.Millisecond)
		x.ended = ended
	}
	return h.Summary()
}

func TestRules(t *testing.T) {
	docs, _ := os.ReadFile("../../docs/clients.md")
	for _, tt := range []struct {
		name  string
		want  string // names of the findings, and failures, repeated, links, followed
		steps string
	}{
		{"no key", "repeated-without-key 0 0 0 0", "Rex 0; Rex 201"},
		{"another key", "repeated-without-key 1 1 0 0", "Rex 0 a; Rex 201 b"},
		{"the same key, and later an equal pet", "1 1 0 0", "Rex 0 a; Rex 201 a; Rex 201 b"},
		{"not carried out the first time", "0 0 0 0", "Rex -1; Rex 201"},
		{"at the same time", "0 0 0 0", "Rex 0; Rex 201 - -2ms"},

		{"at once", "ignored-retry-after 1 1 0 0", "Rex 429; Rex 201 - 800ms"},
		{"in time", "1 1 0 0", "Rex 429; Rex 201 - 1s"},
		{"another key", "1 1 0 0", "Rex 429 a; Rex 201 b"},
		{"another pet", "1 0 0 0", "Rex 429; Max 201"},
		{"under way already", "1 0 0 0", "Rex 429; Rex 201 - -2ms"},

		{"page", "own-cursor 0 0 0 0", "/pets?limit=3&start_after=2 200"},
		{"parameters of a proxy", "0 0 0 0", "/pets?_=1234&utm_source=x&per_page=20 200"},

		{"float64 of JavaScript", "rounded-id 0 0 0 0", "/pets/-7046029254386353000 404"},
		{"int32", "rounded-id 0 0 0 0", "/pets/2135587861 404"},
		{"the next ID", "0 0 0 0", "/pets/-7046029254386353130 404"},
		{"the ID before", "0 0 0 0", "/pets/-7046029254386353132 404"},
		{"float64 with an exponent", "rounded-id 0 0 0 0", "/pets/-7.046029254386353e+18 404"},

		{"one read of two", "2 1 0 0", "/pets -1; /pets/1 -1; /pets 200; /pets 200"},
		{"a read repeated twice", "2 2 0 0", "/pets -1; /pets -1; /pets 200"},
		{"a link that is not followed", "0 0 1 0", "/pets?limit=2 200; /pets?limit=2 200"},
		{"a link that is followed", "0 0 1 1", "/pets?limit=2 200; /pets?limit=2&cursor=a%2B 200; /pets?limit=2 200"},
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
}

type recorder struct {
	testing.TB
	errors  []any
	cleanup func()
}

func (r *recorder) Error(args ...any) { r.errors = append(r.errors, args...) }
func (r *recorder) Cleanup(f func())  { r.cleanup = f }

// A mistake is an error of the test, without API key and control characters. A response to HEAD
// has the length of one to GET.
func TestNew(t *testing.T) {
	r := &recorder{TB: t}
	url := New(r, nil).URL + "/pets?page="
	if resp, err := http.Post(url, "", strings.NewReader(Key+" \n\x1b[2J"+strings.Repeat("é", 1000))); err != nil || resp.StatusCode != 401 {
		t.Error(resp, err)
	}
	if resp, err := http.Head(url); err != nil || resp.StatusCode != 401 || resp.ContentLength < 99 {
		t.Error(resp, err)
	}
	r.cleanup()
	text := fmt.Sprint(r.errors...)
	if len(r.errors) != 1 || !strings.HasPrefix(text, `own-cursor (2): the client sent the query parameter "page"`) ||
		!strings.Contains(text, `POST /v1/pets?page= [key] \n\x1b[2Jé`) || strings.Contains(text, Key) || len(text) > 1000 {
		t.Errorf("the errors are %s", text)
	}
}
