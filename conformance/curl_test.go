package conformance_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// The curl command of an exchange gets the same status as the exchange.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is not installed")
		}
		t.Skip("curl is not installed")
	}
	target := newServer(t, variant{})
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Run: []string{
		"auth.list.*", "auth.create.*", "pets.create.400.*", "messages.400.*", "pets.create.name.*", "http.*", "pets.list.limit.above",
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
		cmd := exec.Command("bash", "-c", x.Curl)
		cmd.Env = append(os.Environ(), "PETSTORE_API_KEY="+target.Key)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %s", result.ID, err, x.Curl)
			continue
		}
		n++
		line, _, _ := strings.Cut(string(out), "\r\n")
		if fields := strings.Fields(line); len(fields) < 2 || fields[1] != strconv.Itoa(x.Status) {
			t.Errorf("%s: the run got %d, and curl %q: %s", result.ID, x.Status, line, x.Curl)
		}
	}
	if n < 80 {
		t.Errorf("only %d lines were tried", n)
	}
}
