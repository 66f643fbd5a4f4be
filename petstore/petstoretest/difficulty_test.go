package petstoretest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/petstore"
)

// visible has a pattern for each difficulty. It matches only the responses of a
// server with the difficulty.
var visible = map[string]string{
	"delay":             `^`, // not visible in a response
	"too-many-requests": `^429 (.*\n)+Retry-After: (.*\n)+.*"status":429`,
	"unavailable":       `^503 (.*\n)+Retry-After: (.*\n)+.*"status":503`,
	"lost-request":      `unexpected EOF$`,
	"lost-response":     `^20. (.*\n)+.*unexpected EOF$`,

	"ids-huge":        `"id":1155173305399680593,`,
	"ids-negative":    `"id":-1,`,
	"ids-sparse":      `"id":2251799813685248,`,
	"list-descending": `\n\[\{"id":[3-9],.*\{"id":2,`,
	"list-by-name":    `\n\[\{"id":2,.*\{"id":4,.*\{"id":5,`,
	"list-random":     `\n\[\{"id":1,.*\{"id":5,.*\{"id":3,`,
	"short-pages":     `\nLink: (.*\n)+\[\{[^{}]*\}\]$`,
	"no-link":         `^200 .*\n(Content.*\n)+\[.*"id":3,.*\]$`,
	"link-elsewhere":  `\nLink: <http:///v1/pets\?(.*\n)+\[`,

	"no-deprecation":   `^200 .*\n(Content.*\n)+Link: <../pets>`,
	"unknown-codes":    `"code":"E-4711"`,
	"message-status":   `^20[01] (.*\n)+.*"msg_`,
	"extra-members":    `"kind":"thing"`,
	"member-order":     `\{"categoryId":`,
	"escapes":          `"\\u0069\\u0064":1\b`,
	"white-space":      "\r\n\t \\{\n\t\"",
	"chunked":          `^\d+ \[chunked\]`,
	"connection-close": `^\d+ .* true\n`,
}

// Each difficulty is visible in a response, and a server without it does not show
// it.
func TestDifficulties(t *testing.T) {
	plain := responses(t)
	for _, d := range Difficulties() {
		re := regexp.MustCompile(visible[d.Name])
		got := responses(t, Difficult(1, d.Name))
		if !slices.ContainsFunc(got, re.MatchString) {
			t.Errorf("%s: nothing matches %s in\n%s", d.Name, re, strings.Join(got, "\n"))
		}
		if d.Name == "no-link" && !strings.Contains(strings.Join(got, "\n"), `rel="successor-version"`) {
			t.Errorf("%s: pets do not have their Link", d.Name)
		}
		if i := slices.IndexFunc(plain, re.MatchString); i >= 0 && d.Name != "delay" {
			t.Errorf("%s: without it a response is\n%s", d.Name, plain[i])
		}
	}
}

// With the same seed, the same requests meet the same difficulties.
func TestSeed(t *testing.T) {
	first := responses(t, Difficult(7))
	if diff := cmp.Diff(first, responses(t, Difficult(7))); diff != "" {
		t.Errorf("the same seed again (-want +got):\n%s", diff)
	}
	if cmp.Equal(first, responses(t, Difficult(8))) {
		t.Error("another seed leads to the same responses")
	}
}

// Without names a server has one difficulty of each group and all others. Some
// seed chooses each difficulty.
func TestChoose(t *testing.T) {
	chosen := map[string]int{}
	for seed := range uint64(50) {
		all, err := choose(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[string]int{}
		for _, d := range all {
			chosen[d.name]++
			groups[d.group]++
		}
		delete(groups, "")
		if diff := cmp.Diff(map[string]int{"ids": 1, "order": 1, "pages": 1}, groups); diff != "" {
			t.Errorf("seed %d: of each group (-want +got):\n%s", seed, diff)
		}
	}
	for _, d := range allDifficulties {
		if n := chosen[d.name]; n == 0 || (n < 50) != (d.group != "") {
			t.Errorf("%s is chosen for %d of 50 seeds", d.name, n)
		}
	}
}

// A request with a body that the server refuses anyway is not kept whole.
func TestHugeBody(t *testing.T) {
	d, err := newDifficulties(config{difficult: true})
	if err != nil {
		t.Fatal(err)
	}
	x := d.begin(httptest.NewRequest("POST", "/pets", strings.NewReader(strings.Repeat(" ", maxRequest+1))))
	if len(x.body) != maxRequest {
		t.Errorf("read %d bytes, want %d", len(x.body), maxRequest)
	}
}

// A client may follow the Link of a response before it reads the body, which is cut.
func TestLinkOfCutResponse(t *testing.T) {
	d, err := newDifficulties(config{difficult: true})
	if err != nil {
		t.Fatal(err)
	}
	d.see(&exchange{method: "GET", path: "/pets", status: 200, cut: true, header: http.Header{"Link": {`<?cursor=7>; rel="next"`}}})
	d.see(&exchange{method: "GET", path: "/pets", query: "cursor=7", status: 200})
	if s := d.watcher.summary(); len(s.Findings) != 0 || s.Succeeded != 1 {
		t.Errorf("%+v", s)
	}
}

// Of sixty equal requests at most two are refused or lost. The first 429 and the
// first 503 ask to wait.
func TestProgress(t *testing.T) {
	d, err := newDifficulties(config{difficult: true, seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	var failed []int
	refused := map[int]bool{}
	for i := range 1000 {
		x := d.begin(httptest.NewRequest("GET", "/pets", nil))
		d.act(x, func(a difficulty) action { return a.before })
		if x.status == 0 && !x.cut {
			continue
		}
		failed = append(failed, i)
		if n := len(failed); n > 2 && i-failed[n-3] < 60 {
			t.Fatalf("failed %d", failed[n-3:])
		}
		if wait := x.header.Get("Retry-After"); x.status != 0 && !refused[x.status] && wait != "1" {
			t.Errorf("the first %d has Retry-After: %s", x.status, wait)
		}
		refused[x.status] = true
	}
	if len(failed) < 20 {
		t.Errorf("only %d of 1000 requests failed", len(failed))
	}
}

var link = regexp.MustCompile(`Link: <.*\?(.*)>`)

// accidental matches what differs from one run to the next.
var accidental = regexp.MustCompile(`(Date|X-Request-Id): .*\r\n|\w+, \d+ \w+ \d+ [0-9:]+ GMT|127.0.0.1:\d+`)

// responses sends requests to a server, each on a connection of its own, and
// returns the responses as texts.
func responses(t *testing.T, opts ...Option) []string {
	t.Helper()
	dog, cat := petstore.NewPet{Name: "dog"}, petstore.NewPet{Name: "cat"}
	s, err := Start(append(opts, Pets(dog, cat, dog, cat), Now(func() time.Time { return time.Unix(0, 0) }))...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []string
	send := func(method, target, body string) string {
		req, _ := http.NewRequest(method, s.URL+target, strings.NewReader(body))
		req.Header = http.Header{"Authorization": {"Bearer " + s.Key}, "Content-Type": {"application/json"}}
		conn, err := net.Dial("tcp", req.URL.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := req.Write(conn); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		resp, err := http.ReadResponse(bufio.NewReader(conn), req)
		if err == nil {
			fmt.Fprintln(&text, resp.StatusCode, resp.TransferEncoding, resp.Close)
			_ = resp.Header.Write(&text)
			_, err = io.Copy(&text, resp.Body)
		}
		if err != nil {
			fmt.Fprint(&text, err)
		}
		all = append(all, accidental.ReplaceAllString(text.String(), ""))
		return text.String()
	}
	query := "limit=3"
	for range 40 {
		send("POST", "/pets", `{"name":"cat","categoryId":1}`)
		send("GET", "/pets/1", "")
		send("GET", "/pets/none", "")
		send("POST", "/messages", `{"message":"hello"}`)
		if next := link.FindStringSubmatch(send("GET", "/pets?"+query, "")); next != nil {
			query = next[1]
		} else {
			query = "limit=3"
		}
	}
	return all
}
