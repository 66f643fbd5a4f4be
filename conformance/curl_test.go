package conformance_test

import (
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/process"
)

// The curl command of an exchange gets the same status as the exchange.
func TestCurl(t *testing.T) {
	t.Parallel()
	process.Tool(t, "curl")
	target := newServer(t, variant{})
	sent, _, err := conformance.Sent(t.Context(), target, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, x := range sent {
		if i%12 != 0 && !strings.Contains(x.Curl, "printf ") || x.Status == 404 && x.Method == "GET" { // the id may be assigned later
			continue
		}
		n++
		cmd := process.Command("", "bash", "-c", x.Curl)
		cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+target.Key)
		code, stdout, stderr := process.Run(t, cmd)
		stdout = strings.TrimPrefix(stdout, "HTTP/1.1 100 Continue\r\n\r\n")
		line, _, _ := strings.Cut(stdout, "\r\n")
		if fields := strings.Fields(line); code != 0 || len(fields) < 2 || fields[1] != strconv.Itoa(x.Status) {
			t.Errorf("the run got %d, and curl %q, %s: %s", x.Status, line, stderr, x.Curl)
		}
	}
	if n < 40 {
		t.Errorf("only %d lines were tried", n)
	}
}
