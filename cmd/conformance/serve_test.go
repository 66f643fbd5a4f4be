package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"example.com/animalstore/internal/test/process"
)

// TestMain makes the test binary the command too.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_TEST_RUN") != "" {
		main()
	}
	os.Exit(process.Main(m))
}

var introduced = regexp.MustCompile(`base address  (\S+)\nAPI key       (\S+)\n`)

// TestServe runs the program. The tests of petstoretest show which clients make which
// mistakes.
func TestServe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   string
		target string // the client requests it several times; "": there is no client
		key    string // what the client sends; "": the one that the program prints
		end    os.Signal
		code   int
		says   []string
	}{
		{"good client", "-seed 4 -only ids,lost", "/pets", "", os.Interrupt, 0, []string{
			"\nGET \"/v1/pets\" 200\n", "\nGET \"/v1/pets\" 200, cut in the middle\n",
			"\nrequests: 8 (GET /pets: 8), of which 7 succeeded\n", "\ndifficulties met: 1 (ids: 0, lost: 1)\n", "\nno mistake, seed 4 "}},
		{"wrong client", "-seed 3", "/pets?page=0", "", syscall.SIGTERM, 1, []string{"MISTAKE own-cursor: ", "  `GET /v1/pets?page=0`\n", "\nmistakes: 8, seed 3 "}},
		{"wrong key", "-plain", "/pets", "x", os.Interrupt, 3, []string{"\nGET \"/v1/pets\" 401 unknown API key\n", "\nrefused: 8 (401: 8)\n", "\nnothing to judge "}},
		{"plain", "-plain", "/pets", "", os.Interrupt, 0, []string{"of which 8 succeeded\n", "\ndifferent links to a next page: 0, of which 0 were followed\n\nno mistake "}},
		{"no client", "-seed 3", "", "", os.Interrupt, 3, []string{"requests: 0, of which 0 succeeded\n", "nothing to judge, seed 3 "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := process.Command("", append([]string{os.Args[0], "serve", "-v"}, strings.Fields(tt.args)...)...)
			cmd.Env = append(cmd.Env, "CONFORMANCE_TEST_RUN=1")
			p, err := process.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			var at []string
			err = p.Until("it prints its address", func() bool {
				at = introduced.FindStringSubmatch(p.Stdout.String())
				return at != nil && strings.Contains(p.Stdout.String(), "curl -i")
			})
			if err != nil {
				t.Fatal(err)
			}
			preflight, err := http.NewRequestWithContext(t.Context(), "OPTIONS", at[1]+"/pets", nil)
			if err != nil {
				t.Fatal(err)
			}
			preflight.Header.Set("Access-Control-Request-Method", "GET")
			preflight.Header.Set("Access-Control-Request-Headers", "authorization")
			resp, err := http.DefaultClient.Do(preflight)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			h := resp.Header
			if h.Get("Access-Control-Allow-Headers") != "authorization" || h.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("a preflight gets %v", h)
			}
			for i := 0; i < 8 && tt.target != ""; i++ { // some get no response
				r, err := http.NewRequestWithContext(t.Context(), "GET", at[1]+tt.target, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+at[2]+tt.key)
				if resp, err := new(http.Transport).RoundTrip(r); err == nil {
					resp.Body.Close()
				}
			}
			if err := p.Signal(tt.end); err != nil {
				t.Fatal(err)
			}
			if code := p.Wait(); code != tt.code {
				t.Errorf("exit code %d, want %d:\n%s", code, tt.code, p.Tail())
			}
			for _, part := range tt.says {
				if !strings.Contains(p.Stdout.String(), part) {
					t.Errorf("the output lacks %q:\n%s", part, p.Stdout.String())
				}
			}
		})
	}
}
