package petstoretest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// visible has patterns for each difficulty. Each matches only responses of a server with
// the difficulty.
var visible = map[string][]string{
	"busy": {
		`\nRetry-After: (1|[A-Z][a-z]+, )\r`,
		`^503(.*\n)+Retry-After: 0\r\n(.*\n)*.*"status":503`,
		`^429(.*\n)+Retry-After: 0\r\n(.*\n)*.*"status":429`,
	},
	"lost":           {`^EOF$`, `^20.(.*\n)+.*unexpected EOF$`},
	"ids":            {`"id":-7046029254386353131,`, `"id":4354685564936845354,`, `\nLocation: pets/-?\d{17,}\r`},
	"list-order":     {`\n\[.*"id":[23],.*"id":1,`},
	"unknown-codes":  {`"code":"E-4711"`},
	"message-status": {`^200(.*\n)+.*"msg_`, `^201(.*\n)+.*"msg_`},
	"extra-members":  {`"kind":"thing"`},
	"json-form":      {"\r\n\t \\{\n\t\"", `\{\s*"categoryId": 1,`},
}

// Each difficulty is visible in responses, and a server without it does not show
// it.
func TestDifficulties(t *testing.T) {
	plain := responses(t, nil)
	for _, name := range difficulties {
		got := responses(t, &Difficulty{Seed: 1, Names: []string{name}})
		if len(visible[name]) == 0 {
			t.Errorf("%s has no pattern", name)
		}
		for _, pattern := range visible[name] {
			re := regexp.MustCompile(pattern)
			if !slices.ContainsFunc(got, re.MatchString) {
				t.Errorf("%s: nothing matches %s in\n%s", name, re, strings.Join(got[:20], "\n"))
			}
			if i := slices.IndexFunc(plain, re.MatchString); i >= 0 {
				t.Errorf("%s: without it a response is\n%s", name, plain[i])
			}
		}
	}
}

// With the same seed, the same requests meet the same difficulties.
func TestSeed(t *testing.T) {
	first := responses(t, &Difficulty{Seed: 7})
	if diff := cmp.Diff(first, responses(t, &Difficulty{Seed: 7})); diff != "" {
		t.Errorf("the same seed again (-want +got):\n%s", diff)
	}
	if cmp.Equal(first, responses(t, &Difficulty{Seed: 8})) {
		t.Error("another seed leads to the same responses")
	}
}

// No rounded form of an ID of the difficulty ids is the ID of another pet.
func TestRoundings(t *testing.T) {
	issued := map[string]bool{}
	for n := int64(1); n < 2000; n++ {
		issued[fmt.Sprint(shownID(n))] = true
	}
	for n := int64(1); n < 2000; n++ {
		id := shownID(n)
		if all := roundings(id); len(all) < 2 || slices.ContainsFunc(all, func(text string) bool { return issued[text] }) {
			t.Errorf("the roundings of %d are %v", id, all)
		}
	}
}

// accidental matches what differs from one run to the next.
var accidental = regexp.MustCompile(
	`(Date|X-Request-Id): .*\r\n|"createdAt":\s*"[^"]*"|\d+ [A-Z][a-z]+ \d+ [0-9:]+ GMT|127.0.0.1:\d+`)

// responses sends requests to a server, each on a connection of its own, and
// returns the responses as texts.
func responses(t *testing.T, difficult *Difficulty) []string {
	t.Helper()
	h, err := NewHandler(difficult)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	var all, equal []string
	send := func(method, target, body string) string {
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
		return text.String()
	}
	for i := range 40 {
		send("POST", "/pets", `{"name":"cat","categoryId":1}`)
		send("POST", "/pets", fmt.Sprintf(`{"name":"cat %d","categoryId":1}`, i))
		equal = append(equal, send("GET", "/pets/1", ""))
		send("GET", "/pets/none", "")
		send("POST", "/messages", `{"message":"hello"}`)
		send("GET", "/pets?limit=3", "")
	}
	for name, times := range h.Summary().Met {
		if times == 0 || (name == "busy" || name == "lost") && times > len(all)/6 {
			t.Errorf("%s is met %d times in %d exchanges", name, times, len(all))
		}
	}
	failed := regexp.MustCompile(`^(429|503)|EOF$`)
	equal = slices.DeleteFunc(equal, func(text string) bool { return !failed.MatchString(text) })
	if len(equal) > 2 {
		t.Errorf("%d equal requests were refused or lost, want at most 2", len(equal))
	}
	return all
}
