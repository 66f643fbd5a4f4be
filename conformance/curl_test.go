package conformance_test

import (
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
)

// The curl command of an exchange gets the same status as the exchange.
func TestCurl(t *testing.T) {
	process.Tool(t, "curl")
	target := newServer(t, variant{})
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Run: []string{
		"auth.list.*", "auth.create.*", "clients.*", "pets.create.400.*", "messages.400.*", "pets.create.name.*", "http.*", "pets.list.limit.above",
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, result := range r.Results {
		if len(result.Exchanges) == 0 {
			continue
		}
		x := result.Exchanges[len(result.Exchanges)-1]
		if strings.Contains(x.Curl, "@FILE") {
			continue
		}
		n++
		cmd := process.Command("", "bash", "-c", x.Curl)
		cmd.Env = append(cmd.Env, "PETSTORE_API_KEY="+target.Key)
		code, stdout, stderr := process.Run(t, cmd)
		stdout = strings.TrimPrefix(stdout, "HTTP/1.1 100 Continue\r\n\r\n")
		line, _, _ := strings.Cut(stdout, "\r\n")
		if fields := strings.Fields(line); code != 0 || len(fields) < 2 || fields[1] != strconv.Itoa(x.Status) {
			t.Errorf("%s: the run got %d, and curl %q, %s: %s", result.ID, x.Status, line, stderr, x.Curl)
		}
	}
	if n < 80 {
		t.Errorf("only %d lines were tried", n)
	}
}
