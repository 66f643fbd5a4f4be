package httpapi_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestRefused sends the requests in testdata/refused.txt. The line above a request
// has the status of the response and its message, or a part of the message. Blank
// lines and lines that start with # are ignored. A POST has a target and a body,
// which is a Go string if it starts with a quote. Other methods have one or more
// targets. All requests have a credential except those below a 401.
func TestRefused(t *testing.T) {
	file, err := os.ReadFile("testdata/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, nil)
	s.add("rex")
	var w want
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		raw, isRequest := strings.CutPrefix(line, "\t")
		if !isRequest {
			if line != "" && line[0] != '#' {
				status, message, _ := strings.Cut(line, " ")
				code, _ := strconv.Atoi(status)
				w = refused(code, message)
			}
			continue
		}
		credential := authorized
		if w.status == 401 {
			credential = "X: none"
		}
		method, rest, _ := strings.Cut(raw, " ")
		if method != "POST" {
			for target := range strings.FieldsSeq(rest) {
				s.want(w, request(method+" "+target, credential))
			}
			continue
		}
		target, body, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(body, `"`) {
			if body, err = strconv.Unquote(body); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		s.want(w, postBare(target, body, credential, isJSON))
	}
}
